// API keys: which are live, a new one that is shown once, and their end.

import { type Scope, scopes } from '@parley/core/scopes.ts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Account, account, type ShownKey } from '../../market/account.ts';
import type { SignedInAccount } from '../../market/session.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { Do, Form } from '../../parts/act.tsx';
import {
  announce,
  Button,
  CheckBoxes,
  Copy,
  Dialog,
  Notice,
  Panel,
  TextField,
} from '../../parts/controls.tsx';
import { Confirm } from '../../parts/forms.tsx';
import { Answer, Empty } from '../../parts/page.tsx';
import { When } from '../../parts/shown.tsx';
import { text } from '../../texts/texts.ts';

export function Keys() {
  return (
    <AccountScreen title={text('keys.title')}>
      {(signedIn) => <Parts account={signedIn} />}
    </AccountScreen>
  );
}

function Parts({ account: { id, kind } }: { account: SignedInAccount }) {
  const client = useQueryClient();
  const [minted, setMinted] = useState<string | null>(null);
  const [said, setSaid] = useState<string | null>(null);
  const keys = useQuery({
    queryKey: ['keys', id],
    queryFn: ({ signal }) => account.keys(signal),
  });
  const changed = async () => {
    await client.invalidateQueries({ queryKey: ['keys'] });
  };
  const revoked = async () => {
    setSaid(text('keys.revoked'));
    await changed();
  };
  return (
    <>
      <p>
        {text('keys.what')} <a href="/v1/docs">{text('keys.docs')}</a>
      </p>
      {minted !== null && <Minted secret={minted} onDone={() => setMinted(null)} />}
      {said !== null && <Notice kind="good">{said}</Notice>}
      <Answer of={keys}>
        {({ keys: live }) => (
          <>
            <Live keys={live} onRevoked={revoked} />
            <MintKey
              kind={kind}
              live={live}
              onMinted={async (key) => {
                setMinted(key);
                setSaid(null);
                announce(text('keys.minted.title'));
                await changed();
              }}
            />
          </>
        )}
      </Answer>
    </>
  );
}

/** It leaves this component nowhere, and is gone with it. */
function Minted({ secret, onDone }: { secret: string; onDone: () => void }) {
  return (
    <Notice
      kind="warn"
      title={text('keys.minted.title')}
      action={
        <>
          <Copy value={secret} what={text('keys.minted.key')} />
          <Button onPress={onDone}>{text('keys.minted.done')}</Button>
        </>
      }
    >
      <p>{text('keys.minted.what')}</p>
      <code className="secret">{secret}</code>
    </Notice>
  );
}

function Live({ keys, onRevoked }: { keys: readonly ShownKey[]; onRevoked: () => Promise<void> }) {
  if (keys.length === 0) return <Empty>{text('keys.none')}</Empty>;
  const revoke = async (id: string) => {
    await account.revokeKey(id);
    await onRevoked();
  };
  return (
    <Panel title={text('keys.live')}>
      <ul className="entries">
        {keys.map((each) => (
          <li key={each.id}>
            <KeyWords shown={each} />
            <Confirm
              label={text('keys.revoke.label', { prefix: each.prefix })}
              title={text('keys.revoke.title', { prefix: each.prefix })}
              what={<p>{text('keys.revoke.what')}</p>}
              onConfirm={() => revoke(each.id)}
            >
              {text('keys.revoke')}
            </Confirm>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function KeyWords({ shown }: { shown: ShownKey }) {
  const { name, prefix, scopes: rights, usedOn, usedFrom, expiresAt } = shown;
  return (
    <div>
      <p className="key-name">
        <strong>{name ?? text('keys.unnamed')}</strong>
        <code>{`${prefix}…`}</code>
        {rights.map((right) => (
          <span key={right} className="chip">
            {right}
          </span>
        ))}
      </p>
      <p className="hint">
        {usedOn === null
          ? text('keys.used.never')
          : text('keys.used.on', { day: usedOn, place: usedFrom ?? '' })}{' '}
        · {text('keys.expires')} <When at={expiresAt} />
      </p>
    </div>
  );
}

const mostKeys = 10;
const mostDays = 90;

/** null: not a life that a key may have. */
function daysIn(typed: string): number | null {
  const days = /^\d{1,2}$/.test(typed.trim()) ? Number(typed) : 0;
  return days >= 1 && days <= mostDays ? days : null;
}

type MintKeyProps = {
  kind: Account['kind'];
  live: readonly ShownKey[];
  onMinted: (key: string) => Promise<void>;
};

function MintKey({ kind, live, onMinted }: MintKeyProps) {
  const [name, setName] = useState('');
  const [typedDays, setDays] = useState(String(mostDays));
  const [chosen, setChosen] = useState<ReadonlySet<Scope>>(new Set(scopes));
  const [sure, setSure] = useState(false);
  const days = daysIn(typedDays);
  const replaces = kind === 'wallet' ? live[0] : undefined;
  const mint = async () => {
    const allowed = scopes.filter((each) => chosen.has(each));
    const { key } = await account.makeKey({
      name: name.trim(),
      scopes: allowed,
      lifeDays: days ?? mostDays,
    });
    setSure(false);
    setName('');
    await onMinted(key);
  };
  const blocked =
    kind === 'browser' && live.length >= mostKeys
      ? text('keys.mint.full')
      : chosen.size === 0
        ? text('keys.mint.scopes.none')
        : days === null
          ? text('keys.mint.days.bad')
          : null;
  return (
    <Panel title={text('keys.mint.title')}>
      <p className="hint">
        {text(kind === 'wallet' ? 'keys.mint.one' : 'keys.mint.ten', { count: live.length })}
      </p>
      <Form
        go={text('keys.mint.go')}
        kind="main"
        blocked={blocked}
        send={async () => (replaces === undefined ? mint() : setSure(true))}
      >
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
      </Form>
      <Dialog
        title={text('keys.mint.replace.title', { prefix: replaces?.prefix ?? '' })}
        open={sure}
        onClose={() => setSure(false)}
        no={text('confirm.no')}
        yes={
          <Do kind="danger" work={mint}>
            {text('keys.mint.go')}
          </Do>
        }
      >
        <p>{text('keys.mint.replace.what')}</p>
      </Dialog>
    </Panel>
  );
}
