// API keys: which are live, a new one that is shown once, and their end.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { account, type ShownKey } from '../../market/account.ts';
import type { SignedInAccount } from '../../market/session.ts';
import { AccountScreen } from '../../parts/account-screen.tsx';
import { announce } from '../../parts/announce.ts';
import { Answer, Empty } from '../../parts/answer.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Notice } from '../../parts/notice.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { useFreshly } from '../../parts/ways/fresh.tsx';
import { When } from '../../parts/when.tsx';
import { text } from '../../texts/texts.ts';
import { MintKey } from './mint-key.tsx';

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
function Minted({ secret, onDone }: { readonly secret: string; readonly onDone: () => void }) {
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

type LiveProps = { readonly keys: readonly ShownKey[]; readonly onRevoked: () => Promise<void> };

function Live({ keys, onRevoked }: LiveProps) {
  const freshly = useFreshly();
  if (keys.length === 0) return <Empty>{text('keys.none')}</Empty>;
  const revoke = async (id: string) => {
    await freshly(() => account.revokeKey(id));
    await onRevoked();
  };
  const columns: readonly Column<ShownKey>[] = [
    {
      key: 'name',
      label: text('keys.name'),
      cell: ({ name }) => name ?? <span className="hint">{text('keys.unnamed')}</span>,
    },
    {
      key: 'prefix',
      label: text('keys.prefix'),
      cell: ({ prefix }) => <code>{`${prefix}…`}</code>,
    },
    { key: 'scopes', label: text('keys.scopes'), cell: ({ scopes }) => scopes.join(', ') },
    {
      key: 'used',
      label: text('keys.used'),
      cell: ({ usedOn, usedFrom }) =>
        usedOn === null
          ? text('keys.used.never')
          : text('keys.used.on', { day: usedOn, place: usedFrom ?? '' }),
    },
    { key: 'ends', label: text('keys.expires'), cell: (each) => <When at={each.expiresAt} /> },
    {
      key: 'revoke',
      label: text('keys.revoke'),
      cell: ({ id, prefix }) => (
        <Confirm
          label={text('keys.revoke.label', { prefix })}
          title={text('keys.revoke.title', { prefix })}
          what={<p>{text('keys.revoke.what')}</p>}
          onConfirm={() => revoke(id)}
        >
          {text('keys.revoke')}
        </Confirm>
      ),
    },
  ];
  return (
    <Table caption={text('keys.title')} columns={columns} rows={keys} keyOf={({ id }) => id} />
  );
}
