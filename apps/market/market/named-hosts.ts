// The hosts that a text names, as a person reads them. Searched in one go, never anew from each
// letter: anybody may send the longest text, signed or not.

/** The names of a host in a label of a line. */
const siteLabels = /\b(uri|url|domain|site|website|origin|host|audience|app|dapp)\b/;

/** Browsers take both for the dot of a host. */
const dot = '[.\u3002]';
const letters = String.raw`[\p{L}\p{M}\p{N}]+`;
const part = `${letters}(?:-+${letters})*`;
/** A text with dots in it, from its first letter to its last, with a port. */
const dotted = new RegExp(
  String.raw`${part}(?:${dot}${part})*(?::\d+(?![\p{L}\p{M}\p{N}]))?`,
  'gu',
);
/** Ends as hosts do: in two letters or more, in punycode, or as an IPv4 address. No number does. */
const asHost = new RegExp(
  String.raw`${dot}(?:\p{L}[\p{L}\p{M}]+|xn--[a-z\d-]+)(?::\d+)?$|^\d+(?:\.\d+){3}(?::\d+)?$`,
  'u',
);

/**
 * The hosts of a line in small letters, as browsers read it (NFKC): those of URLs, of a line for a
 * site, of "wants you to sign in", and of words written like a host. `aName`: names may be written
 * so.
 */
export function hostsIn(given: string, aName = false): string[] {
  const line = given.normalize('NFKC');
  const found: (string | undefined)[] = line
    .split('://')
    .slice(1)
    .map((rest) => rest.split(/[\s/?#]/, 1)[0]);
  // The colon of a label, not of a URL or a port.
  const colon = Math.max(0, line.search(/:(?!\d|\/\/)/));
  const value = line.slice(colon + 1).trim();
  if (siteLabels.test(line.slice(0, colon)) && !value.includes('://')) {
    found.push(value.split(/[/?#]/, 1)[0]);
  }
  for (const before of line.split(' wants you to sign in').slice(0, -1)) {
    const who = before.split(/\s/).at(-1);
    if (who !== '') found.push(who?.split('://').at(-1));
  }
  if (!aName) found.push(...line.split(/\s/).flatMap(bareHosts));
  return found.filter((host) => host !== undefined).map(normal);
}

/** The hosts in a word, outside of its URL; the text after a host and a slash is a path. */
function bareHosts(word: string): string[] {
  const [outside = ''] = word.split('://', 1);
  for (const piece of outside.split(/[/?#]/)) {
    const hosts = (piece.match(dotted) ?? []).filter((each) => asHost.test(each));
    if (hosts.length > 0) return hosts;
  }
  return [];
}

/** Without what ends a sentence and without the port that goes without saying. */
export function normal(host: string): string {
  return host
    .normalize('NFKC')
    .replace(/[.,;:!?)>"'\u201d\u2019]{1,3}$/, '')
    .replace(/:(?:80|443)$/, '');
}
