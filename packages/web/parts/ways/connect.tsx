// One press on a wallet connects it and signs in with it. Where what is given wants another wallet,
// the same dialog asks for that one too, and ends once the account may give it.

import { lazy, Suspense } from 'react';
import { text } from '../../texts/texts.ts';
import { Dialog } from '../controls.tsx';
import { Loading } from '../page.tsx';
import type { ConnectingProps } from './connecting.tsx';

const Connecting = lazy(async () => ({
  default: (await import('./connecting.tsx')).Connecting,
}));

type ConnectProps = ConnectingProps & { open: boolean; onClose: () => void };

export function ConnectDialog({ open, onClose, ...props }: ConnectProps) {
  const title = text(props.give === undefined ? 'failed.sign_in' : 'connect.title');
  return (
    <Dialog title={title} open={open} onClose={onClose} no={text('connect.no')}>
      <Suspense fallback={<Loading />}>
        <Connecting {...props} />
      </Suspense>
    </Dialog>
  );
}
