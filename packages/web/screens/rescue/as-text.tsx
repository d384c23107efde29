// A claim or refund as text, for whoever has no node that answers here.

import type { RawSpend } from '@parley/sdk/rescue/raw.ts';
import { useState } from 'react';
import type { Engine } from '../../engine/types.ts';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { localTime } from '../../texts/people.ts';
import { text } from '../../texts/texts.ts';
import { faultOf } from './faults.ts';

type Props = { readonly engine: Engine; readonly swapId: string };

export function AsText({ engine, swapId }: Props) {
  const [spend, setSpend] = useState<RawSpend | null>(null);
  const { error, run } = useAct();
  const make = (verb: 'claim' | 'refund') =>
    run(async () => {
      setSpend(null);
      setSpend(await engine.swaps.raw(swapId, verb));
    });
  return (
    <details>
      <summary>{text('rescue.texts')}</summary>
      <p className="soft">{text('rescue.texts.why')}</p>
      <div className="actions">
        {(['refund', 'claim'] as const).map((verb) => (
          <Button key={verb} onPress={() => make(verb)}>
            {text(`rescue.texts.${verb}`)}
          </Button>
        ))}
      </div>
      <Fault error={error} words={faultOf} />
      {spend !== null && <Text spend={spend} now={engine.now()} />}
    </details>
  );
}

function Text({ spend, now }: { readonly spend: RawSpend; readonly now: number }) {
  const value = spend.is === 'signed' ? spend.raw : JSON.stringify(spend.call, null, 1);
  return (
    <div>
      <p>
        {spend.is === 'signed'
          ? text('rescue.texts.signed')
          : text('rescue.texts.call', { chainId: spend.chainId })}
      </p>
      {spend.notBefore !== null && (
        <p>{text('rescue.texts.from', { at: localTime(spend.notBefore, now) })}</p>
      )}
      <pre className="rescue-raw">{value}</pre>
      <Copy value={value} what={text('rescue.texts.what')} />
    </div>
  );
}
