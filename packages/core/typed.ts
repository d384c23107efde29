// A text that a person typed or pasted, as it is seen: a letter that an input method writes in full
// width is the letter that it shows, and a mark that is not drawn is not there. Pure.

/** Full-width ASCII stands so far above ASCII. */
const above = 0xfee0;
/** But for the mark that turns around what is behind it: then another text is seen. */
const unseen = /(?!\u202e)\p{Cf}/gu;

export function asTyped(text: string): string {
  return (
    text
      .replace(unseen, '')
      .replace(/[\uff01-\uff5e]/g, (wide) => String.fromCharCode(wide.charCodeAt(0) - above))
      // The space and the full stop of Japanese and Chinese keyboards.
      .replaceAll('\u3000', ' ')
      .replaceAll('\u3002', '.')
  );
}
