// Types that are the same underneath and must not be taken for each other. A value without a name,
// such as a literal, is taken for any of them: what is refused is one name in another's place.

declare const brand: unique symbol;

export type Nominal<T, Name extends string> = T & { readonly [brand]?: Name };
