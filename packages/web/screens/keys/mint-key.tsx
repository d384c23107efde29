// A new API key: its rights, and for how long.

import { type Scope, scopes } from '@parley/core/scopes.ts';
import { type FormEvent, useState } from 'react';
import { type Account, account, type ShownKey } from '../../market/account.ts';
import { Failed } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { CheckBoxes } from '../../parts/check-boxes.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { useAct } from '../../parts/ways/act.ts';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { text } from '../../texts/texts.ts';

const mostKeys = 10;
const mostDays = 90;

/** null: not a life that a key may have. */
function daysIn(typed: string): number | null {
  const days = /^\d{1,2}$/.test(typed.trim()) ? Number(typed) : 0;
  return days >= 1 && days <= mostDays ? days : null;
}

type MintKeyProps = {
  readonly kind: Account['kind'];
  readonly live: readonly ShownKey[];
  readonly onMinted: (key: string) => Promise<void>;
};

export function MintKey({ kind, live, onMinted }: MintKeyProps) {
  const freshly = useFreshly();
  const [name, setName] = useState('');
  const [typedDays, setDays] = useState(String(mostDays));
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(scopes));
  const [sure, setSure] = useState(false);
  const { busy, error, run } = useAct();
  const days = daysIn(typedDays);
  const isFull = kind === 'browser' && live.length >= mostKeys;
  const replaces = kind === 'wallet' ? live[0] : undefined;
  const mint = () =>
    run(async () => {
      if (days === null) return;
      const allowed = scopes.filter((each) => chosen.has(each));
      const wanted = { name: name.trim(), scopes: allowed, lifeDays: days };
      const { key } = await freshly(() => account.makeKey(wanted));
      setName('');
      await onMinted(key);
    });
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (days === null || chosen.size === 0 || isFull) return;
    if (replaces === undefined) mint();
    else setSure(true);
  };
  const nothing = chosen.size === 0 ? text('keys.mint.scopes.none') : null;
  return (
    <section className="panel">
      <h2>{text('keys.mint.title')}</h2>
      <p className="hint">
        {text(kind === 'wallet' ? 'keys.mint.one' : 'keys.mint.ten', { count: live.length })}
      </p>
      <form className="way" onSubmit={send}>
        <TextField
          label={text('keys.mint.name')}
          required
          maxLength={80}
          value={name}
          onChange={setName}
        />
        <TextField
          label={text('keys.mint.days')}
          hint={text('keys.mint.days.hint')}
          error={days === null ? text('keys.mint.days.bad') : null}
          inputMode="numeric"
          value={typedDays}
          onChange={setDays}
        />
        <CheckBoxes
          legend={text('keys.mint.scopes')}
          all={scopes}
          chosen={chosen}
          onChange={setChosen}
        >
          {(scope) => text(`keys.scope.${scope}`)}
        </CheckBoxes>
        <Button
          type="submit"
          kind="main"
          busy={busy}
          blocked={isFull ? text('keys.mint.full') : nothing}
        >
          {text('keys.mint.go')}
        </Button>
        {error !== null && <Failed error={error} />}
      </form>
      <Dialog
        title={text('keys.mint.replace.title', { prefix: replaces?.prefix ?? '' })}
        open={sure}
        onClose={() => setSure(false)}
        no={text('confirm.no')}
        yes={
          <Button
            kind="danger"
            onPress={() => {
              setSure(false);
              mint();
            }}
          >
            {text('keys.mint.go')}
          </Button>
        }
      >
        <p>{text('keys.mint.replace.what')}</p>
      </Dialog>
    </section>
  );
}
