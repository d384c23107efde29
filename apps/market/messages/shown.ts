// The part of a fact that may stand in a message that lights up on a lock screen: one line, and no
// text that could be a key, a secret, a hashlock or a whole address, whoever wrote it where.

const longest = 60;
/** The shortest addresses have 25 characters or more, a secret in base64 has 43. */
const run = /[\p{L}\p{N}_+/=-]{24,}/gu;
const mailbox = /([^\s@])[^\s@]*@([^\s@]+)/gu;

/** An address, as somebody knows it again who has the whole one before them. */
export function shortened(text: string): string {
  return text.length < 16 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`;
}

export function shown(value: unknown): string {
  if (typeof value !== 'string') return '';
  const line = value
    .toWellFormed()
    .slice(0, 2_000)
    // Control characters, what turns the direction of writing, line breaks of all kinds.
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    // No link that somebody else made.
    .replaceAll('://', ' ')
    .trim();
  const masked = line.replace(mailbox, '$1…@$2').replace(run, shortened);
  return masked.length > longest ? `${masked.slice(0, longest - 1).toWellFormed()}…` : masked;
}

/** To the minute, UTC; empty where it is no instant. */
export function instant(value: unknown): string {
  const at = typeof value === 'number' ? value * 1_000 : Date.parse(String(value));
  if (Number.isNaN(new Date(at).getTime())) return '';
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
