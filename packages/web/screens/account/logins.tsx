// The ways into the account: shown, added, removed.

import { families } from '@parley/core/families.ts';
import { type ReactNode, useState } from 'react';
import { account, type Login, type SignedIn } from '../../market/account.ts';
import { lookAgain, type SignedInAccount } from '../../market/session.ts';
import { Form } from '../../parts/act.tsx';
import { announce, Button, Notice, Panel, TextField } from '../../parts/controls.tsx';
import { Confirm } from '../../parts/forms.tsx';
import { When } from '../../parts/shown.tsx';
import { addPasskey, passkeysHere } from '../../parts/ways/passkey.ts';
import { WaysIn } from '../../parts/ways/ways.tsx';
import { text } from '../../texts/texts.ts';

export function Logins({ account: { logins } }: { account: SignedInAccount }) {
  const [adding, setAdding] = useState(false);
  const [said, setSaid] = useState<string | null>(null);
  const added = async ({ outcome }: SignedIn) => {
    setAdding(false);
    setSaid(text(outcome === 'added' ? 'logins.added.said' : 'logins.added.before'));
    await lookAgain();
  };
  return (
    <Panel title={text('logins.title')}>
      <p>{text('logins.what')}</p>
      {said !== null && <Notice kind="good">{said}</Notice>}
      <ul className="entries">
        {logins.map((each) => (
          <LoginEntry key={each.id} login={each} onChanged={setSaid} />
        ))}
      </ul>
      {adding ? (
        <Adding onAdded={added} back={() => setAdding(false)} />
      ) : (
        <Button
          onPress={() => {
            setSaid(null);
            setAdding(true);
          }}
        >
          {text('logins.add')}
        </Button>
      )}
    </Panel>
  );
}

type KeepProps = { login: Login; onKept: (sentence: string) => void };

function LoginEntry({ login, onChanged }: { login: Login; onChanged: (sentence: string) => void }) {
  const { label } = login;
  const remove = async () => {
    const { leavesAt } = await account.removeLogin(login.id);
    onChanged(text(leavesAt === null ? 'logins.removed' : 'logins.leaving'));
    await lookAgain();
  };
  return (
    <li>
      <div>
        <p>
          <strong>{label}</strong> <span className="hint">{kindOf(login)}</span>
        </p>
        <p className="hint">
          {text('logins.added')} <When at={login.addedAt} />
          {login.lastUsedAt !== null && (
            <>
              {' · '}
              {text('logins.used')} <When at={login.lastUsedAt} />
            </>
          )}
        </p>
        <LoginFacts login={login} />
      </div>
      {login.leavesAt !== null && <Keep login={login} onKept={onChanged} />}
      {login.leavesAt === null && (
        <Confirm
          label={text('logins.remove.label', { login: label })}
          title={text('logins.remove.title', { login: label })}
          what={
            <>
              <p>{text('logins.remove.what')}</p>
              {login.way === 'wallet' && <p>{text('logins.remove.wallet')}</p>}
            </>
          }
          onConfirm={remove}
        >
          {text('logins.remove')}
        </Confirm>
      )}
    </li>
  );
}

function Keep({ login: { id, label }, onKept }: KeepProps) {
  const keep = async () => {
    await account.keepLogin(id);
    onKept(text('logins.kept'));
    await lookAgain();
  };
  return (
    <Confirm
      label={text('logins.keep.label', { login: label })}
      title={text('logins.keep.title', { login: label })}
      what={<p>{text('delete.keep.what')}</p>}
      onConfirm={keep}
    >
      {text('logins.keep')}
    </Confirm>
  );
}

function LoginFacts({ login }: { login: Login }): ReactNode {
  const { backedUp, messages, waitsUntil, leavesAt } = login;
  return (
    <>
      {backedUp !== null && (
        <p className={backedUp ? 'hint' : 'hint warn-ink'}>
          {text(backedUp ? 'logins.backed_up' : 'logins.one_device')}
        </p>
      )}
      {messages !== null && (
        <p className={messages === 'on' ? 'hint' : 'hint warn-ink'}>
          {text(`logins.chat.${messages}`)}
        </p>
      )}
      {waitsUntil !== null && (
        <p className="hint warn-ink">
          {text('logins.waits')} <When at={waitsUntil} />
        </p>
      )}
      {leavesAt !== null && (
        <p className="hint warn-ink">
          {text('logins.leaves')} <When at={leavesAt} />
        </p>
      )}
    </>
  );
}

type AddingProps = {
  onAdded: (done: SignedIn) => Promise<void>;
  back: () => void;
};

function Adding({ onAdded, back }: AddingProps) {
  return (
    <div>
      <p>{text('logins.add.what')}</p>
      <AddPasskey onAdded={onAdded} />
      <WaysIn purpose="add" here="/account" after={onAdded} />
      <div className="actions">
        <Button kind="quiet" onPress={back}>
          {text('logins.add.done')}
        </Button>
      </div>
    </div>
  );
}

function AddPasskey({ onAdded }: Pick<AddingProps, 'onAdded'>) {
  const [name, setName] = useState('');
  const add = async () => {
    const done = await addPasskey(name.trim(), account.beginPasskey);
    announce(text('logins.added.said'));
    await onAdded(done);
  };
  return (
    <section className="panel">
      <h3>{text('logins.passkey.title')}</h3>
      {passkeysHere() ? (
        <Form go={text('logins.passkey.add')} send={add}>
          <TextField
            label={text('logins.passkey.name')}
            required
            maxLength={100}
            value={name}
            onChange={setName}
          />
        </Form>
      ) : (
        <p className="hint">{text('ways.passkey.none')}</p>
      )}
    </section>
  );
}

function kindOf({ way, issuer, id }: Pick<Login, 'way' | 'issuer' | 'id'>): string {
  if (way === 'wallet') {
    const family = families.find((each) => id.startsWith(`${each}:`)) ?? 'evm';
    return text('logins.wallet', { family: text(`family.${family}`) });
  }
  if (way !== 'provider') return text(`logins.${way}`);
  const host = issuer !== null && URL.canParse(issuer) ? new URL(issuer).host : (issuer ?? '');
  return text('logins.provider', { host });
}
