// One action at a time behind a form or a button: whether it runs, and what went wrong. Where the
// last sign-in is too long ago it is done once more after a new one (ways/fresh.tsx).

import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useRef,
  useState,
} from 'react';
import { Button, type ButtonProps } from './controls.tsx';
import { Failed } from './page.tsx';

/** The person did not want it after all: the screen stays silent. */
export class Cancelled extends Error {}

/**
 * Does `work`; where the sign-in is too long ago, once more after a new one. Throws Cancelled where
 * the person does not sign in. `walletsOnly`: any other way would end the wallet session.
 */
export type Freshly = <T>(
  work: () => Promise<T>,
  how?: { readonly walletsOnly?: boolean },
) => Promise<T>;

export const Fresh = createContext<Freshly>((work) => work());

export type Act = {
  readonly busy: boolean;
  /** null: it went well, or the error was dismissed. */
  readonly error: unknown;
  /** A press while another one runs has no effect. */
  readonly run: (work: () => Promise<void>) => void;
  readonly forget: () => void;
};

export function useAct(): Act {
  const freshly = useContext(Fresh);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const running = useRef(false);
  const there = useRef(true);
  useEffect(() => {
    there.current = true;
    return () => {
      there.current = false;
    };
  }, []);
  const run = useCallback(
    (work: () => Promise<void>) => {
      if (running.current) return;
      running.current = true;
      setBusy(true);
      setError(null);
      const ended = (failure: unknown) => {
        running.current = false;
        if (!there.current) return;
        setBusy(false);
        setError(failure instanceof Cancelled ? null : failure);
      };
      freshly(work).then(() => ended(null), ended);
    },
    [freshly],
  );
  const forget = useCallback(() => setError(null), []);
  return { busy, error, run, forget };
}

type DoProps = Omit<ButtonProps, 'busy' | 'onPress' | 'type'> & {
  work: () => Promise<void>;
  /** In the place of how every failure is shown. */
  failed?: (error: unknown) => ReactNode;
  /** Words for as long as it runs. */
  going?: string;
};

const shown = (error: unknown) => <Failed error={error} />;

/** A button for one act, with its failure below. */
export function Do({ work, failed = shown, going, ...button }: DoProps) {
  const { busy, error, run } = useAct();
  return (
    <>
      <Button {...button} busy={busy} onPress={() => run(work)} />
      {busy && going !== undefined && <p role="status">{going}</p>}
      {error !== null && failed(error)}
    </>
  );
}

type FormProps = {
  /** Its name, where no heading names it. */
  label?: string;
  className?: string;
  /** The fields. */
  children: ReactNode;
  /** On the button that sends it, and Enter does too. */
  go: string;
  kind?: ButtonProps['kind'];
  blocked?: string | null;
  send: () => Promise<void>;
  going?: string;
  /** Further buttons. */
  more?: ReactNode;
  failed?: DoProps['failed'];
};

export function Form(props: FormProps) {
  const { label, className = 'way', children, go, kind, blocked = null, send, going, more } = props;
  const { failed = shown } = props;
  const { busy, error, run } = useAct();
  return (
    <form
      className={className}
      aria-label={label}
      onSubmit={(event) => {
        event.preventDefault();
        if (blocked === null) run(send);
      }}
    >
      {children}
      <div className="actions">
        <Button type="submit" kind={kind} busy={busy} blocked={blocked}>
          {go}
        </Button>
        {more}
      </div>
      {busy && going !== undefined && <p role="status">{going}</p>}
      {error !== null && failed(error)}
    </form>
  );
}
