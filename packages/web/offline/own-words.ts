// The market's own words as the app that is kept takes them: data alone. They come as a
// script. One of the market's choice could do what it wants with the keys of this page, whatever
// build was compared. Pure.

const shape = /^self\.marketConfig=(\{.*\});\s*$/s;

/** The same words, written here. Throws where they are more than data. */
export function wordsOf(script: string): string {
  const [, json = ''] = shape.exec(script) ?? [];
  return `self.marketConfig=${JSON.stringify(JSON.parse(json))};\n`;
}
