// A bare Debian root with Node, npm and the sources, and how its programs reach what this machine
// reaches: registries, proxies and authorities are the machine's own, and stand in no file of ours.

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { copyFile, cp, mkdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { otherNodes, thisNode } from '../support/nodes.ts';

const run = promisify(execFile);
const sources = join(import.meta.dirname, '../../..');
const outputBytes = 64 * 1024 * 1024;
const ours = /\/(?:\.git|node_modules|\.parley|dist|dist-\w+|__pycache__)$/;

/** The oldest Node that will do, as the machine has it: the one that people have. */
const [node = thisNode] = otherNodes();

/** @param made a bare Debian, which becomes this one; else debootstrap makes it */
export async function bareRoot(root: string, made: string | undefined): Promise<void> {
  const debian = join(sources, 'verify/test/support/debian.sh');
  if (made === undefined) {
    await run('sh', [debian, root, '--variant=minbase'], { maxBuffer: outputBytes });
  } else await run('mv', [made, root]);
  // As an image has it: neither lists nor packages, and dpkg does not wait for the disk.
  await writeFile(join(root, 'etc/dpkg/dpkg.cfg.d/image'), 'force-unsafe-io\n');
  for (const each of ['var/lib/apt/lists', 'var/cache/apt/archives']) {
    await rm(join(root, each), { recursive: true });
    await mkdir(join(root, each));
  }
  await writeFile(join(root, 'etc/hosts'), '127.0.0.1 localhost\n::1 localhost\n');
  await copyFile('/etc/resolv.conf', join(root, 'etc/resolv.conf'));
  const place = join(root, 'usr/local');
  const npm = join(dirname(await realpath(join(dirname(node.path), 'npm'))), '..');
  await copyFile(node.path, join(place, 'bin/node'));
  await cp(npm, join(place, 'lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx']) {
    await symlink(`../lib/node_modules/npm/bin/${name}-cli.js`, join(place, 'bin', name));
  }
  const filter = (path: string) => !ours.test(path);
  await cp(sources, join(root, 'root/parley'), { recursive: true, verbatimSymlinks: true, filter });
}

/** With owners and rights. */
export async function copyOf(root: string, to: string): Promise<string> {
  await run('cp', ['-a', root, to]);
  return to;
}

const proxies = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) => [
  name,
  name.toUpperCase(),
]);
const packages = ['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_TRUSTED_HOST'];
const authorities = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'PIP_CERT'];

/** The environment of a first login, and what this machine needs to reach registries. */
export async function environment(root: string): Promise<Record<string, string>> {
  const env: Record<string, string> = {
    CI: 'true',
    PARLEY_SMALL_DISK: process.env.PARLEY_SMALL_DISK ?? '',
    HOME: '/root',
    PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  };
  for (const name of [...proxies, ...packages]) {
    const value = process.env[name];
    if (value) env[name] = value;
  }
  await mkdir(join(root, 'etc/machine'));
  await mkdir(join(root, 'usr/local/etc'), { recursive: true });
  const trust = async (name: string, file: string | undefined) => {
    if (!file || !existsSync(file)) return;
    await copyFile(file, join(root, 'etc/machine', name));
    env[name] = `/etc/machine/${name}`;
  };
  for (const name of authorities) await trust(name, process.env[name]);
  const [cafile, user = '', all = ''] = await Promise.all(
    ['cafile', 'userconfig', 'globalconfig'].map(npmConfig),
  );
  await trust('npm_config_cafile', cafile);
  if (existsSync(user)) await copyFile(user, join(root, 'root/.npmrc'));
  if (existsSync(all)) await copyFile(all, join(root, 'usr/local/etc/npmrc'));
  if (existsSync('/etc/pip.conf')) await copyFile('/etc/pip.conf', join(root, 'etc/pip.conf'));
  return env;
}

async function npmConfig(name: string): Promise<string> {
  const npm = join(dirname(node.path), 'npm');
  return (await run(npm, ['config', 'get', name], { cwd: '/' })).stdout.trim();
}
