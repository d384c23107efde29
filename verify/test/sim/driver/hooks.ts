// The hooks with which the driver is loaded in this process: the simulation's time, plans, hands,
// and check of unsigned bytes. All the rest of the driver is the real thing.

import { registerHooks } from 'node:module';
import { takeOverTime } from './time.ts';

const root = new URL('../../../../', import.meta.url);
const here = (name: string) => new URL(name, import.meta.url).href;
const at = (path: string) => new URL(path, root).href;

type Instead = {
  readonly of: string;
  readonly by: string;
  readonly asked: (from: string) => boolean;
};

const isVerifier = (from: string) => from === at('packages/sdk/verify.ts');
const families = ['bitcoin', 'evm', 'solana', 'tron'];
const all: readonly Instead[] = [
  ...families.map((family) => {
    return { of: at(`packages/chains/${family}/plan.ts`), by: here('plans.ts'), asked: isVerifier };
  }),
  { of: at('packages/chains/bitcoin/keys.ts'), by: here('plans.ts'), asked: isVerifier },
  { of: at('packages/sdk/settle/hands/of.ts'), by: here('hands.ts'), asked: () => true },
  {
    of: at('packages/sdk/verify-release.ts'),
    by: here('check.ts'),
    asked: (from) => from.startsWith(at('packages/sdk/settle/')),
  },
  {
    of: at('packages/sdk/verify-material.ts'),
    by: here('check.ts'),
    asked: (from) => from.startsWith(at('packages/sdk/settle/')),
  },
];

registerHooks({
  resolve: (specifier, context, next) => {
    const found = next(specifier, context);
    const { parentURL: from = '' } = context;
    const other = all.find(({ of, asked }) => of === found.url && asked(from));
    return other === undefined ? found : { ...found, url: other.by };
  },
});
takeOverTime();
