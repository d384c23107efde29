// Texts of a swap's settlement beside its status: a wallet that was asked to pay Bitcoin, what has
// happened.

export const settled = {
  'settlement.wallet_confirm.title': 'Confirm in {wallet}',
  'settlement.wallet_confirm.now':
    '{wallet} shows a payment of {gives} to {escrow}. Confirm it if both are the same there. Do not pay by any other way meanwhile.',
  'settlement.wallet_confirm.next': 'This page sees the payment by itself, mostly within seconds.',
  'settlement.wallet_confirm.away':
    'A payment that you have confirmed counts all the same. Come back before {revealBy} to collect.',
  'settlement.wallet_confirm.lose': 'Nothing if you decline there.',
  'settlement.wallet_silent.title': '{wallet} has not answered',
  'settlement.wallet_silent.now':
    'It was asked {since} ago. Look into it: it may still show the payment, or have paid. No node shows one yet.',
  'settlement.wallet_silent.next':
    'If it shows the payment, confirm or decline it there. If it shows neither request nor payment, pay another way.',
  'settlement.wallet_silent.away':
    'A payment that you have confirmed counts all the same. Come back before {revealBy} to collect.',
  'settlement.wallet_silent.lose':
    'If you pay another way and it pays too, you have paid twice: you would be asked before that is put at risk.',
  'settlement.wallet_failed.title': '{wallet} says that it could not pay',
  'settlement.wallet_failed.now': 'It said: {why}.',
  'settlement.wallet_failed.next':
    'Look into its history. If it shows no payment, pay another way or ask it again.',
  'settlement.wallet_failed.away': 'The swap ends at {fundBy} if nothing is paid.',
  'settlement.wallet_failed.lose': 'Nothing if it has not paid.',
  'settlement.wallet_sent.title': '{wallet} says that it has paid',
  'settlement.wallet_sent.now':
    'No node shows the payment yet. That takes seconds mostly. Do not pay a second time.',
  'settlement.wallet_sent.next': 'When the payment is final, the other side locks {gets}.',
  'settlement.wallet_sent.away': 'You may close this page. Come back before {revealBy} to collect.',
  'settlement.wallet_sent.lose':
    'Nothing but fees: if the swap fails, {gives} come back to you from {refundAt} on.',
  'settlement.wallet_unseen.title': '{wallet} says that it has paid. No node shows it',
  'settlement.wallet_unseen.now':
    'It said so {since} ago. Look into its history. A payment that it shows there comes by itself. If it shows none, nothing was paid.',
  'settlement.wallet_unseen.next':
    'Wait, or look for the transaction. Pay another way only if you are sure that it has not paid.',
  'settlement.wallet_unseen.away':
    'The swap ends at {fundBy} if nothing comes. A late payment comes back from {refundAt} on.',
  'settlement.wallet_unseen.lose':
    'If you pay another way and it pays too, you have paid twice: you would be asked before that is put at risk.',
  'settlement.wallet.or': 'Or from a wallet in this browser',
  'settlement.wallet.pay': 'Pay with {name}',
  'settlement.wallet.look': 'Your wallet asks which account may be seen. Nothing is paid yet.',
  'settlement.wallet.declined': 'You declined in your wallet. Nothing was paid.',
  'settlement.wallet.network': 'Your wallet is on another network. Switch it to {chain}',
  'settlement.wallet.refused': 'The wallet was not asked to pay',
  'settlement.wallet.too_late': 'Decline the payment in {wallet}',
  'settlement.wallet.too_late.why':
    'It was asked at {askedAt} and may still show the payment. The time to pay is over. If you confirm it now, your money comes back from {refundAt} on, less network fees.',
  'settlement.wallet.leave': 'It has not paid: pay another way',
  'settlement.wallet.leave.title': 'Are you sure that {wallet} has not paid?',
  'settlement.wallet.leave.sure':
    'Close its request first, and look into its history. If it pays after all and you pay too, the second payment is put at risk or comes back from {refundAt} on.',
  'settlement.wallet.leave.not': 'Wait',
  'settlement.wallet.leave.go': 'It has not paid',
  'settlement.happened.elsewhere': 'Another tab went on with it.',
  'settlement.happened.state.preparing': 'Agreed. Addresses are exchanged.',
  'settlement.happened.state.waiting_to_fund': 'The other side locks first.',
  'settlement.happened.state.funding': 'It is your turn to lock {gives}.',
  'settlement.happened.state.cancelling': 'The time to pay had passed.',
  'settlement.happened.state.funded': 'Your {gives} are locked.',
  'settlement.happened.state.revealing': 'Both sides are locked. You collect first.',
  'settlement.happened.state.claiming': 'The secret is public: {gets} can be collected.',
  'settlement.happened.state.refunding': 'The time lock is over: {gives} can come back.',
  'settlement.happened.state.received': 'You received {gets}.',
  'settlement.happened.state.settled': 'Nothing is left to do.',
  'settlement.happened.address_set': 'Your address on {chain} was named.',
  'settlement.happened.verified': 'Both escrows were checked against your terms.',
  'settlement.happened.approved': 'Your wallet lets the contract take {gives}.',
  'settlement.happened.signed': 'Your wallet signed the payment of {gives}.',
  'settlement.happened.pay_by_hand': 'You were asked to pay {gives} in one payment.',
  'settlement.happened.asking': 'It waits until you want your wallet to be asked.',
  'settlement.happened.prompting': 'Your wallet was asked.',
  'settlement.happened.wallet_refused': 'Your wallet has not signed.',
  'settlement.happened.funded': 'Your payment of {gives} was sent.',
  'settlement.happened.scheduled': 'Signed refunds were left with the market.',
  'settlement.happened.seen': 'A payment was seen on {chain}.',
  'settlement.happened.claimed': 'The transaction that pays {gets} to you was sent.',
  'settlement.happened.refunded': 'The refund of {gives} was sent.',
  'settlement.happened.replaced': 'It was sent again with a higher fee.',
  'settlement.happened.cancelled': 'Your late payment was called off.',
  'settlement.happened.waiting': 'It waits.',
  'settlement.happened.market_refused': 'The market refused, or did not answer.',
  'settlement.happened.evidence': 'Your nodes did not all say the same, or one stood still.',
  'settlement.happened.market_lied': 'The market said something else than you agreed.',
  'settlement.happened.store': 'This browser had trouble keeping the swap.',
  'settlement.happened.ended': 'The swap ended.',
  'receipt.end.done_not_locked': 'Ended: you locked nothing',
} as const;
