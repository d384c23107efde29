// The Debian mirrors that this machine's apt is configured with: the one-line files (*.list) and
// the deb822 ones (*.sources). Other vendors' archives are left out.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export type AptSource = {
  readonly uri: string;
  /** A key file, or an embedded key block; null leaves it to apt's trusted keys. */
  readonly signedBy: string | null;
};

type Entry = AptSource & { readonly suites: readonly string[] };

const releases = 'bullseye|bookworm|trixie|forky|duke|oldstable|stable|testing|unstable|sid';
const debianSuites = new RegExp(`^(${releases})(-updates|-backports)?$`);

export async function readAptSources(folder = '/etc/apt'): Promise<readonly AptSource[]> {
  const parts = await readdir(join(folder, 'sources.list.d')).catch(() => []);
  const files = ['sources.list', ...parts.sort().map((name) => join('sources.list.d', name))];
  const found: Entry[] = [];
  for (const file of files) {
    const text = await readFile(join(folder, file), 'utf8').catch(() => '');
    found.push(...(file.endsWith('.sources') ? parseDeb822(text) : []));
    found.push(...(file.endsWith('.list') ? parseOneLine(text) : []));
  }
  const seen = new Set<string>();
  return found
    .filter(({ uri, suites }) => {
      if (!suites.some((suite) => debianSuites.test(suite)) || seen.has(uri)) return false;
      seen.add(uri);
      return !uri.startsWith('cdrom:');
    })
    .map(({ uri, signedBy }) => ({ uri, signedBy }));
}

/** `deb [signed-by=…] uri suite component…` */
export function parseOneLine(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  for (const line of text.split('\n')) {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.*)$/.exec(line.split('#')[0]!);
    if (match === null || !/\bmain\b/.test(match[4]!)) continue;
    const signedBy = /signed-by=(\S+)/i.exec(match[1] ?? '')?.[1] ?? null;
    entries.push({ uri: match[2]!, suites: [match[3]!], signedBy });
  }
  return entries;
}

export function parseDeb822(text: string): readonly Entry[] {
  const entries: Entry[] = [];
  for (const block of text.split(/\n\s*\n/)) {
    const fields = parseFields(block);
    const words = (name: string) => (fields.get(name) ?? '').split(/\s+/).filter(Boolean);
    if (!words('types').includes('deb') || !words('components').includes('main')) continue;
    if (/^no|^false|^0/i.test(fields.get('enabled') ?? 'yes')) continue;
    const signedBy = fields.get('signed-by') ?? null;
    for (const uri of words('uris')) entries.push({ uri, suites: words('suites'), signedBy });
  }
  return entries;
}

/** Field names in lower case; a field may go on over lines that begin with a space. */
function parseFields(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  let current: string | null = null;
  for (const line of block.split('\n')) {
    if (line.startsWith('#') || line.trim() === '') continue;
    const match = /^([A-Za-z0-9-]+):\s*(.*)$/.exec(line);
    if (match !== null) {
      current = match[1]!.toLowerCase();
      fields.set(current, match[2]!.trim());
    } else if (current !== null && /^\s/.test(line)) {
      fields.set(current, `${fields.get(current)}\n${line}`);
    }
  }
  return fields;
}
