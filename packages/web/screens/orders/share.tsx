// An order's link, to be copied or scanned.

import type { Rfq } from '@parley/sdk/types.ts';
import { Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Qr } from '../../parts/qr.tsx';
import { text } from '../../texts/texts.ts';

type ShareProps = {
  readonly rfq: Rfq;
  readonly open: boolean;
  readonly onClose: () => void;
};

export function Share({ rfq, open, onClose }: ShareProps) {
  const { id, visibility, targetAddress } = rfq;
  const link = `${window.location.origin}/orders/${id}`;
  const isAddressed = targetAddress !== undefined;
  return (
    <Dialog
      title={text('order.share.title')}
      open={open}
      onClose={onClose}
      no={text('order.share.done')}
    >
      <p>
        {isAddressed
          ? text('order.share.address', { address: targetAddress })
          : text(`order.share.${visibility}`)}
      </p>
      <Qr value={link} label={text('order.share.qr')} />
      <p className="order-link">
        <span className="mono">{link}</span> <Copy value={link} what={text('order.share.link')} />
      </p>
    </Dialog>
  );
}
