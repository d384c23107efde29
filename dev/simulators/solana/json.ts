// JSON of Solana nodes: 64-bit amounts are bigint here and plain digits on the wire.

type JsonWithRaw = {
  rawJSON(text: string): unknown;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source: string }) => unknown,
  ): unknown;
};
const json = JSON as unknown as JsonWithRaw;

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? json.rawJSON(each.toString()) : each,
  );
}

/** Whole numbers that a double would round become bigint. */
export function fromJson(text: string): unknown {
  return json.parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source)
      ? BigInt(source)
      : value,
  );
}
