// A value from outside in the place of a T: it is unchecked.

/** JSON in the place of a T: anything in it may be missing or null, at any depth. */
export type Unchecked<T> =
  | null
  | undefined
  | (T extends string | number | bigint | boolean
      ? T
      : { readonly [Field in keyof T]?: Unchecked<T[Field]> });

/** JSON of a value: undefined for undefined and functions, which JSON.stringify's type conceals. */
export function jsonOf(value: unknown): string | undefined {
  return JSON.stringify(value);
}
