// By e-mail: an address, then the digits that were sent there. A code that was asked for before
// the page was loaded again can still be typed in.

import { asTyped } from '@parley/core/typed.ts';
import { type FormEvent, useEffect, useState } from 'react';
import { account, isRefused, type Purpose, type SignedIn } from '../../market/account.ts';
import { config, now } from '../../market/config.ts';
import { secondsOf } from '../../texts/people.ts';
import { recalled, remember } from '../../texts/remembered.ts';
import { text } from '../../texts/texts.ts';
import { Button, Notice, TextField } from '../controls.tsx';
import { Failed } from '../page.tsx';
import { Clock } from '../shown.tsx';
import { useAct } from './act.ts';
import './ways.css';

type Pending = { readonly address: string; readonly expiresAt: string };
const remembered = 'parley.code-sent';

/** The address that waits for its code in this tab; null = none. */
function pending(purpose: Purpose): Pending | null {
  if (purpose !== 'sign-in') return null;
  try {
    const found = JSON.parse(recalled('sessionStorage', remembered) ?? 'null') as Pending | null;
    return found !== null && secondsOf(found.expiresAt) > now() ? found : null;
  } catch {
    return null;
  }
}

function rememberSent(purpose: Purpose, sent: Pending | null): void {
  if (sent !== null && purpose !== 'sign-in') return;
  remember('sessionStorage', remembered, sent === null ? null : JSON.stringify(sent));
}

type EmailWayProps = {
  readonly purpose: Purpose;
  readonly mailIsDown: boolean;
  readonly askForCode: typeof account.askForCode;
  readonly after: (done: SignedIn) => Promise<void>;
  /** The address is a login of another account: the market's refusal. */
  readonly onTaken: (refusal: unknown) => void;
  /** Whether a code is awaited: other ways need not be seen then. */
  readonly onWaiting: (waits: boolean) => void;
};

export function EmailWay(props: EmailWayProps) {
  const { purpose, mailIsDown, askForCode, after, onTaken, onWaiting } = props;
  const [sent, setSent] = useState(() => pending(purpose));
  useEffect(() => onWaiting(sent !== null), [sent, onWaiting]);
  const [address, setAddress] = useState('');
  const { busy, error, run } = useAct();
  const keep = (next: Pending | null) => {
    rememberSent(purpose, next);
    setSent(next);
  };
  const ask = (event: FormEvent) => {
    event.preventDefault();
    run(async () => keep(await askForCode(address.trim(), purpose)));
  };
  if (sent !== null) {
    const anew = async () => keep(await askForCode(sent.address, purpose));
    const about = { purpose, sent, mailIsDown, after, onTaken, anew };
    return <CodeForm {...about} leave={() => keep(null)} />;
  }
  return (
    <form className="way" onSubmit={ask}>
      {mailIsDown && <Notice kind="warn">{text('ways.email.down')}</Notice>}
      <TextField
        label={text('ways.email.address')}
        type="email"
        autoComplete="email"
        required
        maxLength={254}
        value={address}
        onChange={setAddress}
      />
      <Button type="submit" kind={purpose === 'sign-in' ? 'main' : 'plain'} busy={busy}>
        {text('ways.email.send')}
      </Button>
      {error !== null && <Failed error={error} />}
    </form>
  );
}

type CodeFormProps = Pick<EmailWayProps, 'purpose' | 'mailIsDown' | 'after' | 'onTaken'> & {
  readonly sent: Pending;
  readonly anew: () => Promise<void>;
  readonly leave: () => void;
};

function CodeForm(props: CodeFormProps) {
  const { purpose, sent, mailIsDown, after, onTaken, anew, leave } = props;
  const [typed, setTyped] = useState('');
  const [isShort, setShort] = useState(false);
  const { busy, error, run } = useAct();
  const digits = asTyped(typed).replace(/\D/g, '');
  const give = (event: FormEvent) => {
    event.preventDefault();
    if (digits.length !== 6 && digits.length !== 20) return setShort(true);
    run(async () => {
      try {
        const done = await account.giveCode(sent.address, digits);
        rememberSent(purpose, null);
        await after(done);
      } catch (failure) {
        if (!isRefused(failure, 'login_taken')) throw failure;
        // It proved the address: the code is used up.
        rememberSent(purpose, null);
        onTaken(failure);
      }
    });
  };
  return (
    <form className="way" onSubmit={give}>
      <h2>{text('ways.code.title', { address: sent.address })}</h2>
      <Notice kind={mailIsDown ? 'warn' : 'info'}>
        {text(mailIsDown ? 'ways.email.down' : 'ways.code.sent')} {text('ways.code.until')}{' '}
        <Clock at={secondsOf(sent.expiresAt)} /> <Inbox />
      </Notice>
      <TextField
        label={text('ways.code.digits')}
        error={isShort ? text('ways.code.six') : null}
        inputMode="numeric"
        autoComplete="one-time-code"
        maxLength={30}
        required
        value={typed}
        onChange={(next) => {
          setTyped(next);
          setShort(false);
        }}
      />
      <div className="actions">
        <Button type="submit" kind="main" busy={busy}>
          {text('ways.go_on')}
        </Button>
        <Button
          onPress={() => {
            setTyped('');
            run(anew);
          }}
        >
          {text('ways.code.again')}
        </Button>
        <Button kind="quiet" onPress={leave}>
          {text('ways.code.leave')}
        </Button>
      </div>
      {error !== null && <Failed error={error} />}
    </form>
  );
}

/** On a dev network nobody sends mail anywhere. */
function Inbox() {
  const inbox = config.dev?.inbox ?? null;
  if (inbox === null) return null;
  return (
    <a href={inbox} target="_blank" rel="noreferrer">
      {text('ways.code.inbox')}
    </a>
  );
}
