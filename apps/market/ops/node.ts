// `ops node`: whether a node will do, by the doctor's questions, each method of the adapter and the
// 31 days that a swap may last. It sends no transaction, and shows no secret of an address.

import { resolve } from 'node:path';
import { Misused } from '@parley/host/command.ts';
import { partMs } from '../doctor/examine.ts';
import { exitStatus, gather, linesOf } from '../doctor/findings.ts';
import { examineNodes } from '../doctor/nodes.ts';
import { createParts } from '../doctor/parts.ts';
import { callLimitMs } from '../doctor/reads.ts';
import { readSettings } from '../settings/config.ts';
import { findChains } from './doctor.ts';
import { meantBy } from './meant.ts';
import { print } from './operator.ts';

type Asked = { readonly kind: 'core' | 'esplora' };

export async function node(
  json: boolean,
  chain: string,
  nodes: readonly string[],
  { kind }: Asked,
): Promise<number> {
  const settings = readSettings(process.env);
  const isInSettings = !chain.includes(':');
  const found = isInSettings
    ? await findChains({ ...settings, home: resolve(settings.home) })
    : { chains: [], offsetMs: 0 };
  if ('severity' in found) throw new Misused(`${found.says}: ${found.todo}`);
  const { sources, isServed } = meantBy(chain, nodes, found.chains, kind);
  const { add, counts } = gather((each) => print(json ? JSON.stringify(each) : linesOf(each)));
  await examineNodes({
    chains: sources,
    now: () => Date.now() + found.offsetMs,
    callMs: callLimitMs(settings.chainTimeoutMs, partMs),
    parts: createParts(add, AbortSignal.timeout(partMs * sources.length), partMs),
    isWhole: true,
    isServed,
  });
  const all = counts();
  const isFit = all.danger + all.differs + all.unseen === 0;
  print(
    json
      ? JSON.stringify({ nodes: sources.length, ...all, isFit })
      : `${isFit ? 'it will do' : 'it will not do'}: ${sources.length} nodes, ${all.differs} lacks, ${all.danger} dangers, ${all.unseen} unseen`,
  );
  return exitStatus(all);
}
