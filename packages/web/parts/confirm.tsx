// A button for what is not easily undone: it says what will happen, and asks once.

import { type ReactNode, useState } from 'react';
import { text } from '../texts/texts.ts';
import { Failed } from './answer.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { useAct } from './ways/act.ts';

type ConfirmProps = {
  readonly children: ReactNode;
  /** Heard instead of the words on the button, such as many times in a list. */
  readonly label?: string;
  readonly title: string;
  /** The consequence. */
  readonly what: ReactNode;
  readonly kind?: 'danger' | 'plain';
  readonly onConfirm: () => Promise<void>;
};

export function Confirm({
  children,
  label,
  title,
  what,
  kind = 'danger',
  onConfirm,
}: ConfirmProps) {
  const [open, setOpen] = useState(false);
  const { busy, error, run, forget } = useAct();
  const close = () => {
    setOpen(false);
    forget();
  };
  const confirm = () =>
    run(async () => {
      await onConfirm();
      setOpen(false);
    });
  return (
    <>
      <Button {...(label === undefined ? {} : { label })} onPress={() => setOpen(true)}>
        {children}
      </Button>
      <Dialog
        title={title}
        open={open}
        onClose={close}
        no={text('confirm.no')}
        yes={
          <Button kind={kind === 'danger' ? 'danger' : 'main'} busy={busy} onPress={confirm}>
            {children}
          </Button>
        }
      >
        {what}
        {error !== null && <Failed error={error} />}
      </Dialog>
    </>
  );
}
