// The bill of materials of a release, as `npm sbom` writes it, without what differs from one run to
// the next: a random serial number, the time, the folder. The Node that comes along is in it too.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);
const mostOutput = 16 * 1_024 * 1_024;

type Component = Record<string, unknown> & { readonly name: string; readonly version: string };
type Dependency = { readonly ref: string; readonly dependsOn: readonly string[] };
type Bill = {
  readonly serialNumber?: string;
  readonly metadata: { readonly timestamp?: string; readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly Dependency[];
};

type Asked = {
  readonly root: string;
  readonly version: string;
  /** The packages of the release, `name@version`. */
  readonly kept: ReadonlySet<string>;
  readonly node: { readonly version: string; readonly sha256: string };
};

/**
 * CycloneDX, as JSON. npm names every package of the lockfile: with `--omit dev` it leaves out a
 * third of those that both the market and a tool need. Throws where it lacks one of the release.
 */
export async function bill({ root, version, kept, node }: Asked): Promise<string> {
  const npm = process.env.npm_execpath;
  if (npm === undefined) throw new Error('packed by npm: npm run package');
  // Vite calls this process one of production, by which npm would leave the same out.
  // VitePress brings a search that asks for an older React, which the site never loads.
  const all = ['--include', 'dev', '--include', 'optional', '--legacy-peer-deps'];
  const args = [npm, 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', ...all];
  const { stdout } = await run(process.execPath, args, { cwd: root, maxBuffer: mostOutput });
  const sbom = JSON.parse(stdout) as Bill;
  const packages = sbom.components.filter((each) => kept.has(refOf(each)));
  const told = new Set(packages.map(refOf));
  const missing = [...kept].filter((each) => !told.has(each));
  if (missing.length > 0) throw new Error(`npm sbom leaves out ${missing.join(', ')}`);
  const own = { ...sbom.metadata.component, name: 'parley', type: 'application' };
  const runtime = {
    'bom-ref': `node@${node.version}`,
    type: 'platform',
    name: 'node',
    version: node.version,
    purl: `pkg:generic/node@${node.version}`,
    hashes: [{ alg: 'SHA-256', content: node.sha256 }],
    licenses: [{ license: { id: 'MIT' } }],
  };
  const { timestamp: _, ...metadata } = sbom.metadata;
  const { serialNumber: __, ...rest } = {
    ...sbom,
    metadata: { ...metadata, component: own },
    components: [...packages, runtime],
    dependencies: within(sbom.dependencies, new Set([...kept, refOf(own)])),
  };
  // Named by what it says (RFC 9562, version 8).
  const hex = createHash('sha256').update(version).update(JSON.stringify(rest)).digest('hex');
  const id = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  const serialNumber = `urn:uuid:${id.join('-')}-${hex.slice(20, 32)}`;
  return `${JSON.stringify({ ...rest, serialNumber }, null, 1)}\n`;
}

const refOf = ({ name, version }: Component) => `${name}@${version}`;

function within(all: readonly Dependency[], refs: ReadonlySet<string>): Dependency[] {
  return all
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => refs.has(each)) }));
}
