// A link of this site, to be copied or scanned.

import { useState } from 'react';
import { text } from '../texts/texts.ts';
import { Button } from './button.tsx';
import { Copy } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Qr } from './qr.tsx';
import './share.css';

type ShareProps = {
  readonly title: string;
  /** The effect of the link. */
  readonly what: string;
  readonly path: string;
};

export function Share({ title, what, path }: ShareProps) {
  const [isOpen, setOpen] = useState(false);
  const link = `${window.location.origin}${path}`;
  return (
    <>
      <Button onPress={() => setOpen(true)}>{text('share')}</Button>
      <Dialog title={title} open={isOpen} onClose={() => setOpen(false)} no={text('share.done')}>
        <p>{what}</p>
        <Qr value={link} label={text('share.qr')} />
        <p className="share-link">
          <span className="mono">{link}</span> <Copy value={link} what={text('share.link')} />
        </p>
      </Dialog>
    </>
  );
}
