// A signed text may speak against itself. Programs read its labels alone; a person may have signed
// because of the sentences around them: "this is a read-only key" of a key that trades, or "I do
// not want to create an API key". English is read, and of other languages the commonest words.

import { drawn } from '@parley/core/drawn.ts';
import { type Scope, scopes } from '@parley/core/scopes.ts';

export type Meant = {
  readonly productName: string;
  /** Such as `create an API key`. */
  readonly purpose: string;
  /** Those of the key that the text asks for; null = it asks for none. */
  readonly scopes: readonly Scope[] | null;
};

const words = (all: string) => String.raw`(?<![\p{L}\p{N}])(?:${all})(?![\p{L}\p{N}])`;

const denials =
  'not|never|no|nor|neither|none|nothing|nobody|cannot|(?:refuse|decline|object|disagree)s?' +
  '|(?:reject|forbid|prohibit|disallow)s?|(?:oppose|disapprove)[sd]?|den(?:y|ies)|refused|declined' +
  '|rejected|denied|forbidden|prohibited|disallowed|cancelled|canceled|false|void|unable' +
  '|impossible|instead of|rather than' +
  "|invalid|without|(?:do|does|did|is|are|was|wo|would|ca|could|should|must|has|have)n['’]?t";
const denial = new RegExp(words(denials), 'u');
/** Between "I" and its denial: "I really do not want this". */
const between = String.raw`(?:(?:am|will|would|should|can|may|do|did|have|hereby|\p{L}+ly) )`;
const ownDenial = new RegExp(
  words(
    [
      `i ${between}{0,3}(?:${denials}|revoke|withdraw|cancel)`,
      String.raw`ich (?:\p{L}+ ){0,3}(?:nicht|kein\p{L}*)|ich lehne`,
      // "It has no effect on your coins" is another thing.
      String.raw`(?:has no effect|does nothing|nothing happens)\W*$`,
      'under no|by no means|on no account|in no (?:way|case)',
      'je ne|no quiero|non voglio|não quero|я не',
    ].join('|'),
  ),
  'u',
);
/** A sentence of its own: "Create an API key. No!" */
const bareDenial = new RegExp(
  String.raw`^[^\p{L}]*(?:no|not|never|not really|no thanks?|no way|just kidding` +
    String.raw`|nein|non|n[aã]o|нет)[^\p{L}]*$`,
  'u',
);
const askedFor = {
  key: new RegExp(
    [
      String.raw`(?:creat|mint|mak|issu|generat|giv|grant|want|need|approv|agre|allow|request).*\bkeys?\b`,
      String.raw`\bkeys? (?:is|are|was|will be) (?:creat|mad|mint|issu|grant|giv)`,
    ].join('|'),
  ),
  wallet: /(?:link|authori[sz]|add|connect|want|approv|agre|allow|permit|request).*\bwallets?\b/,
} as const;

const gap = String.raw`[\s\p{Pd}]*`;
const not = "no|not|never|without|cannot|can['’]?t";
const cannot = String.raw`\b(?:${not}) (?:be (?:able|used|allowed) )?`;
/** Words for "no more than reading". */
const readsOnly = new RegExp(
  [
    String.raw`\b(?:read|view|look|watch)(?:ing|s)?${gap}only\b`,
    String.raw`\b(?:only|just|merely|nothing but)${gap}(?:to |be |for )?(?:read|view|look)`,
    String.raw`\b(?:limited|restricted|confined) to ${gap}(?:read|view|look)`,
    String.raw`\b(?:exclusively|solely|purely)${gap}(?:to |for )?(?:read|view)`,
    String.raw`\b(?:read|view)(?:s|ing) (?:exclusively|solely)\b`,
    String.raw`\b(?:no|without)${gap}write(?: access| rights?| permissions?)?\b`,
    `${cannot}(?:to |for )?(?:trad|quot)`,
    `${cannot}(?:to )?(?:place|post|make|take) (?:any )?(?:order|trade)`,
    String.raw`\bnon${gap}trading\b`,
    String.raw`\btrad(?:e|es|ing) (?:is |are )?(?:off|disabled|forbidden|not)\b`,
    String.raw`\btrad(?:e|es|ing)(?: is| are|${gap}[:=]) ?(?:off|disabled|no(?:ne)?)\W*$`,
    String.raw`\bnur${gap}(?:zum )?(?:lese|ansehe)|\blecture seule|\bs[oó]lo lectura`,
    String.raw`\bsola lettura|(?:somente|apenas|só) leitura|\balleen${gap}lezen`,
    String.raw`\btylko (?:do )?odczyt|\bsalt okunur|\bhanya baca|chỉ đọc|только (?:для )?чте`,
    '[只唯仅僅][读讀]|読み取り専用|閲覧のみ|읽기 ?전용|للقراءة فقط',
  ].join('|'),
  'u',
);

/** `Allowed: read`: a list of scopes alone reads as the scopes of the key, whatever its label. */
const listOfScopes = new RegExp(
  String.raw`[:=|>→]\s*(?:(?:${scopes.join('|')}|only|just|and|or)(?:[\s,;.&+/]+|$))+$`,
  'u',
);
const oneOnly = /\b(taker|maker)[\s\p{Pd}]only\b|\bonly (taker|maker)\b/u;

/** Why nobody can know what was meant; null where nothing speaks against it. */
export function contradictionIn(message: string, meant: Meant): string | null {
  const product = meant.productName.toLowerCase();
  const raw = message.normalize('NFKC').toLowerCase();
  // As written, for other scripts; and as drawn, for letters that only look like Latin ones.
  for (const text of new Set([raw, drawn(raw).toLowerCase()])) {
    let before = '';
    for (const line of text.replaceAll(product, 'product').split('\n')) {
      const found = scopesDenied(line, meant.scopes) ?? purposeDenied(line, before, meant);
      if (found !== null) return found;
      before = line;
    }
  }
  return null;
}

function scopesDenied(line: string, given: Meant['scopes']): string | null {
  if (given?.join() !== 'read' && readsOnly.test(line)) {
    return 'it says that it only reads, and has no line "Scopes: read"';
  }
  const [says, taker, maker] = oneOnly.exec(line) ?? [];
  const trading = given?.filter((scope) => scope !== 'read').join();
  if (says !== undefined && trading !== (taker ?? maker)) {
    return `it says "${says}", and "Scopes:" does not`;
  }
  const isRead = /^(?:key name|scopes):/.test(line);
  return !isRead && listOfScopes.test(line)
    ? 'a line reads like scopes; only "Scopes:" is read'
    : null;
}

/** `before`: the line on which a sentence may have begun. */
function purposeDenied(line: string, before: string, { purpose, scopes }: Meant): string | null {
  const asked = askedFor[scopes === null ? 'wallet' : 'key'];
  const begun = /[.!?]\s*$|^key name:/.test(before) ? '' : before;
  for (const [at, sentence] of line.split(/[.!;]\s/).entries()) {
    const whole = at === 0 ? `${begun} ${sentence}` : sentence;
    const isAbout = sentence.includes(purpose.toLowerCase()) || asked.test(sentence);
    const isDenied = isAbout ? denial.test(whole) : false;
    if (isDenied || ownDenial.test(sentence) || bareDenial.test(sentence)) {
      return `it says "${whole.trim().slice(0, 60)}", which denies what it is for`;
    }
  }
  return null;
}
