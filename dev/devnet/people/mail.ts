// A mail as the dev network's inbox shows it: headers with words of RFC 2047, and the text. The
// market sends plain texts alone, and nodemailer reads no mails.

import { parseHeaderValue } from 'nodemailer/lib/mime-funcs';

/** The limit of each header that is shown; a longer one is cut. */
export const mostHeaderChars = 998;
/** The limit of the text: two hundred mails must not fill the memory of a market under
 * development. */
export const mostTextChars = 32_768;
export type Mail = {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly messageId: string;
  readonly text: string;
};

export function readMail(raw: Buffer): Mail {
  const mail = raw.toString('latin1');
  const blank = /^\r?\n/.exec(mail) ?? /\r?\n\r?\n/.exec(mail);
  const head = blank === null ? mail : mail.slice(0, blank.index);
  const body = blank === null ? '' : mail.slice(blank.index + blank[0].length);
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  const header = (name: string) => readHeader(headers.get(name) ?? '');
  const { params } = parseHeaderValue(headers.get('content-type') ?? 'text/plain');
  const bytes = decodedBody(body, headers.get('content-transfer-encoding') ?? '7bit');
  const text = decoded(bytes, params.charset ?? 'utf-8').replace(/\r\n/g, '\n');
  return {
    from: header('from'),
    to: header('to'),
    subject: header('subject'),
    messageId: header('message-id'),
    text:
      text.length <= mostTextChars
        ? text
        : `${text.slice(0, mostTextChars)}\n[cut at ${mostTextChars} characters]`,
  };
}

/** Words of RFC 2047; the white space between two of them is no part of the value. */
export function readHeader(value: string): string {
  const words = /=\?([^?\s]{1,40})\?([bq])\?([^?\s]*)\?=/gi;
  return decoded(Buffer.from(value.slice(0, 4 * mostHeaderChars), 'latin1'), 'utf-8')
    .replace(/(=\?[^?\s]+\?[bq]\?[^?\s]*\?=)\s+(?==\?[^?\s]+\?[bq]\?)/gi, '$1')
    .replace(words, (_, charset: string, encoding: string, text: string) => {
      if (/b/i.test(encoding)) return decoded(Buffer.from(text, 'base64'), charset);
      return decoded(quotedPrintable(text.replace(/_/g, ' ')), charset);
    })
    .slice(0, mostHeaderChars);
}

function decodedBody(body: string, encoding: string): Buffer {
  switch (encoding.trim().toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64');
    case 'quoted-printable':
      return quotedPrintable(body.replace(/=\r?\n/g, ''));
    default:
      return Buffer.from(body, 'latin1');
  }
}

function quotedPrintable(text: string): Buffer {
  const bytes = text.replace(/=([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(bytes, 'latin1');
}

/** In the charset that the mail names, or UTF-8 where nobody knows it. */
function decoded(bytes: Buffer, charset: string): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
