// Settings that are none: a name nearly right would otherwise start a market without what it says.

type Names = Readonly<Record<string, string | undefined>>;

const prefix = 'PARLEY_';
/** What tools, tests and the dev network read beside the settings. */
const tools = [
  'BITCOIND',
  'CHROMIUM',
  'DEPLOYER_KEY',
  'ESCROW_SO',
  'FAULTS',
  'FROM_SOURCE',
  'JAVA_TRON',
  'PAYER_KEY',
  'REBUILD',
  'SMALL_DISK',
  'SOLANA_VALIDATOR',
];
const ofTools = new RegExp(`^${prefix}(${tools.join('|')}|(CRASH|DRIVER|FUZZ|TEST)_\\w+)$`);
/** What Kubernetes sets for a service called parley, or parley-postgres. */
const ofKubernetes = /^PARLEY_(\w+_)?(SERVICE_(HOST|PORT)\w*|PORT_\d+_\w+)$/;
const urlOfKubernetes = /^PARLEY_(\w+_)?PORT=(tcp|udp):\/\//;

/** Why such a value is that of no setting, whose name a service of Kubernetes has by chance. */
export function serviceLink(name: string, value: string): string | null {
  if (!urlOfKubernetes.test(`${name}=${value}`)) return null;
  const service = name
    .replace(/_PORT$/, '')
    .toLowerCase()
    .replaceAll('_', '-');
  return (
    `${name}=${value} is what Kubernetes sets in pods for a service called ${service}: write` +
    ` enableServiceLinks: false in the pod, give ${name} there yourself, or rename the service`
  );
}

/** The environment, and the names that are read of it. */
export function recording(given: Names): { readonly env: Names; readonly read: Set<string> } {
  const read = new Set<string>();
  const env = new Proxy(given, {
    get: (target, name) => {
      if (typeof name === 'symbol') return undefined;
      read.add(name);
      return target[name];
    },
  });
  return { env, read };
}

/** Why each name that nothing reads is refused. */
export function misspelt(given: Names, read: ReadonlySet<string>): string[] {
  return Object.keys(given).flatMap((name) => {
    if (!name.startsWith(prefix) || read.has(name) || ofTools.test(name)) return [];
    const isService = urlOfKubernetes.test(`${name}=${given[name]}`) || ofKubernetes.test(name);
    if (isService) return [];
    const close = nearest(name, [...read, ...tools.map((each) => `${prefix}${each}`)]);
    return [`${name} is no setting${close === null ? '' : `; the nearest name is ${close}`}`];
  });
}

/** null: none has more than half of its letters in common. */
function nearest(name: string, names: readonly string[]): string | null {
  // PARLEY_PORT is meant to be PORT.
  const prefixed = (each: string) => (each.startsWith(prefix) ? each : `${prefix}${each}`);
  const steps = names.map((each) => ({ each, far: distance(name, prefixed(each)) }));
  const { each, far } = steps.reduce((best, one) => (one.far < best.far ? one : best));
  return far * 2 <= name.length - prefix.length ? each : null;
}

/** How many letters have to be put in, left out or changed (Levenshtein). */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (let n = 1; n <= to.length; n += 1) {
      const same = letter === to[n - 1] ? 0 : 1;
      next.push(Math.min(row[n]! + 1, next[n - 1]! + 1, row[n - 1]! + same));
    }
    row = next;
  }
  return row[to.length]!;
}
