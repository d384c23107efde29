// A question over the page. The browser's own dialog: the page behind it is inert, the focus stays
// inside, Esc closes it, and afterwards the focus is where it was.

import { type ReactNode, useEffect, useId, useRef } from 'react';

type DialogProps = {
  readonly title: string;
  readonly open: boolean;
  /** By Esc too: it must be the answer that does nothing. */
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the one that does nothing first. */
  readonly actions: ReactNode;
};

export function Dialog({ title, open, onClose, children, actions }: DialogProps) {
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
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      <div>{children}</div>
      <div className="actions">{actions}</div>
    </dialog>
  );
}
