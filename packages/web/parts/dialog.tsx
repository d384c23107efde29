// A question over the page. The browser's own dialog: the page behind it is inert, the focus stays
// inside, Esc closes it, and afterwards the focus is where it was.

import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Button } from './button.tsx';

type DialogProps = {
  readonly title: string;
  readonly open: boolean;
  /** By Esc too: it must be the answer that does nothing. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** On the button that closes it. */
  readonly no: string;
  /** The button beside it. */
  readonly yes?: ReactNode;
  /** It stays open until that is over. */
  readonly busy?: boolean;
};

export function Dialog(props: DialogProps) {
  const { title, open, onClose, children, no, yes, busy = false } = props;
  const place = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = place.current;
    if (!open || dialog === null || dialog.open) return;
    dialog.showModal();
    return () => dialog.close();
  }, [open]);
  if (!open) return null;
  return (
    <dialog
      ref={place}
      className="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (!busy) onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      <div>{children}</div>
      <div className="actions">
        <Button busy={busy} onPress={onClose}>
          {no}
        </Button>
        {yes}
      </div>
    </dialog>
  );
}
