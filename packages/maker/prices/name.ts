// How a pair names its price: one source, or two whose ratio it is.

export function parsePriceName(text: string): readonly [string] | readonly [string, string] {
  const [first = '', second, ...more] = text.split('/').map((each) => each.trim());
  return second === undefined || more.length > 0 ? [text.trim()] : [first, second];
}
