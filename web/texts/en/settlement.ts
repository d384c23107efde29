// Texts of a swap's settlement: what happens now, what next, until when one may be away, what can
// be lost. `{gives}` and `{gets}` are amounts with their unit, times are local with a countdown.

export const settlement = {
  'settlement.title': 'Swap {gives} for {gets}',
  'settlement.loading': 'Reading what this browser keeps of the swap…',
  'settlement.looking.title': 'Your swap',
  'settlement.unknown.title': 'This browser knows nothing of that swap',
  'settlement.unknown.why':
    'Swaps are kept in the browser that agreed to them. On another device, bring them back with your rescue phrase.',
  'settlement.unknown.restore': 'Bring swaps back',
  'settlement.unknown.list': 'My swaps',
  'settlement.now': 'Now',
  'settlement.next': 'Next',
  'settlement.away': 'If you close this page',
  'settlement.lose': 'What you can lose',
  'settlement.until': 'Until',
  'settlement.from': 'Comes back from',

  'settlement.starting.title': 'Looking at both chains',
  'settlement.starting.now': 'This page reads what both chains show.',
  'settlement.starting.next': 'You see what is due in a moment.',
  'settlement.starting.away': 'Nothing goes on until a page is open again.',
  'settlement.starting.lose': 'Nothing by waiting a moment.',

  'settlement.preparing.title': 'Agreed. The addresses are exchanged',
  'settlement.preparing.now':
    'Your addresses are named. The other side has yet to name its own. Nothing is paid yet.',
  'settlement.preparing.next':
    'When both are there, this page checks the escrows against your terms.',
  'settlement.preparing.away': 'Nothing is paid and nothing is lost. The swap ends by itself.',
  'settlement.preparing.lose': 'Nothing: no money has moved.',

  'settlement.other_funds_first.title': 'The other side locks first',
  'settlement.other_funds_first.now':
    'You wait until {gets} of the other side are locked and final. Do not pay before.',
  'settlement.other_funds_first.next': 'Then you are asked to lock {gives}, until {fundBy}.',
  'settlement.other_funds_first.away':
    'Come back before {fundBy}. If you do not, the swap ends and you lose nothing.',
  'settlement.other_funds_first.lose': 'Nothing: you have not paid.',

  'settlement.pay_not_yet.title': 'Do not pay yet',
  'settlement.pay_not_yet.now':
    'Something is missing before {gives} may be paid: see the notes on this page.',
  'settlement.pay_not_yet.next': 'When it is there, this page shows the address and the amount.',
  'settlement.pay_not_yet.away': 'The swap ends at {fundBy}, and you lose nothing.',
  'settlement.pay_not_yet.lose': 'Nothing: you have not paid.',

  'settlement.pay_held.title': 'Do not pay now',
  'settlement.pay_held.now':
    'The nodes of a chain cannot be relied on now: see the notes on this page. Nothing is locked until that is over.',
  'settlement.pay_held.next':
    'When that is over, this page shows the address and the amount again. You lose nothing by waiting.',
  'settlement.pay_held.away': 'The swap ends at {fundBy}, and you lose nothing.',
  'settlement.pay_held.lose':
    'If you have paid already, nothing is lost: it counts once it is seen, or comes back to you from {refundAt} on.',

  'settlement.pay.title': 'Pay {gives} in one payment',
  'settlement.pay.now':
    'Send exactly {gives} to the address below, from any wallet or exchange. This page watches for it.',
  'settlement.pay.next':
    'When the payment is final, the other side locks {gets}. Then this page collects them for you.',
  'settlement.pay.away':
    'You may close this page after you have paid. Come back before {revealBy} to collect.',
  'settlement.pay.lose':
    'What you pay comes back to you from {refundAt} on if the swap fails. Only network fees are lost.',

  'settlement.pay_again.title': 'Too little has arrived',
  'settlement.pay_again.now':
    '{arrived} arrived, and the swap needs {gives} in one payment. Payments are not added up. Exchanges often deduct their fee.',
  'settlement.pay_again.next':
    'You may let it be: what arrived comes back to you from {refundAt} on. Or pay the whole {gives} once more, in one payment.',
  'settlement.pay_again.away':
    'The swap ends at {fundBy} if nothing more comes. Come back from {refundAt} on for your refund.',
  'settlement.pay_again.lose':
    'A network fee. If you pay once more, the swap asks you again before it puts the small payment at risk.',

  'settlement.paid_little.title': 'Too little arrived, and the time to pay is over',
  'settlement.paid_little.now':
    '{arrived} lie in the escrow. The other side cannot take them: the secret stays with you.',
  'settlement.paid_little.next': 'From {refundAt} on this page sends them back to {address}.',
  'settlement.paid_little.away':
    'Nothing is lost by being away. Open the app again after {refundAt} for the refund.',
  'settlement.paid_little.lose': 'The network fee of the refund.',

  'settlement.pay_too_late.title': 'The time to pay is over',
  'settlement.pay_too_late.now': 'No payment arrived before {fundBy}. Do not pay any more.',
  'settlement.pay_too_late.next':
    'The swap ends. If your payment is still on its way, it comes back to you from {refundAt} on.',
  'settlement.pay_too_late.away':
    'Nothing is lost if you did not pay. If you did, open the app again after {refundAt}.',
  'settlement.pay_too_late.lose': 'Nothing if you did not pay; else the network fee of a refund.',

  'settlement.paid.title': 'Your payment was seen',
  'settlement.paid.now':
    'It is in the network with {confirmations} of {required} confirmations. Do not pay a second time.',
  'settlement.paid.next': 'When it is final, the other side locks {gets}.',
  'settlement.paid.away': 'You may close this page. Come back before {revealBy} to collect {gets}.',
  'settlement.paid.lose':
    'Nothing but fees: if the swap fails, {gives} come back to you from {refundAt} on.',

  'settlement.paid_late.title': 'Your payment came late',
  'settlement.paid_late.now':
    'It was seen, and is not final by the time that was agreed. The other side may no longer lock.',
  'settlement.paid_late.next':
    'If the other side still locks, the swap goes on. If not, this page sends {gives} back from {refundAt} on.',
  'settlement.paid_late.away': 'Open the app again before {revealBy}, and after {refundAt}.',
  'settlement.paid_late.lose': 'The network fee of the refund.',

  'settlement.fund.title': 'Lock {gives}',
  'settlement.fund.now':
    'Your wallet is asked to lock {gives} in the escrow that this page has checked.',
  'settlement.fund.next': 'When that is final, the swap goes on by itself.',
  'settlement.fund.away':
    'Nothing is signed without you. The swap ends at {fundBy}, and you lose nothing.',
  'settlement.fund.lose':
    'Network fees. {gives} come back to you from {refundAt} on if the swap fails.',

  'settlement.fund_sent.title': 'Your payment is on its way',
  'settlement.fund_sent.now': '{gives} have {confirmations} of {required} confirmations.',
  'settlement.fund_sent.next': 'When they are final, it is the other side’s turn.',
  'settlement.fund_sent.away': 'Come back before {back}.',
  'settlement.fund_sent.lose':
    'Network fees. {gives} come back to you from {refundAt} on if the swap fails.',

  'settlement.cancelling.title': 'The time to pay has passed',
  'settlement.cancelling.now':
    'Your payment was not taken by a block in time. This page makes sure that it never is.',
  'settlement.cancelling.next': 'The swap ends with nothing moved.',
  'settlement.cancelling.away':
    'Your payment could still go through late. It would come back from {refundAt} on.',
  'settlement.cancelling.lose': 'A network fee.',

  'settlement.other_funds.title': 'Your {gives} are locked',
  'settlement.other_funds.now':
    'The other side locks {gets} now. It has until {counterpartyFundBy}.',
  'settlement.other_funds.next': 'When they are final, this page collects them for you.',
  'settlement.other_funds.away':
    'Come back before {revealBy}: without you nobody collects. If you do not, {gives} come back from {refundAt} on.',
  'settlement.other_funds.lose': 'Nothing but fees and time.',

  'settlement.other_collects.title': 'Both sides are locked',
  'settlement.other_collects.now':
    'The other side collects next, before {revealBy}. That shows the secret with which you collect.',
  'settlement.other_collects.next': 'This page then collects {gets} for you at once.',
  'settlement.other_collects.away':
    'Open the app again between {revealBy} and {otherRefundAt}. If the other side has collected, you must collect before {otherRefundAt}.',
  'settlement.other_collects.lose':
    'If the other side collects and you stay away until {otherRefundAt}, it could take back {gets}: you would lose {gives}.',

  'settlement.other_is_late.title': 'The other side did not collect in time',
  'settlement.other_is_late.now':
    'It had until {revealBy}. {gives} are locked for you until {refundAt}. If it collects late all the same, this page collects {gets}.',
  'settlement.other_is_late.next': 'From {refundAt} on this page sends {gives} back to {address}.',
  'settlement.other_is_late.away':
    'Open the app again soon after {refundAt}, and before {otherRefundAt}. Until then the other side could still collect.',
  'settlement.other_is_late.lose':
    'If the other side collects and you stay away until {otherRefundAt}, you would lose {gives}.',

  'settlement.waits_for_refund.title': 'The swap does not go on. Your money comes back',
  'settlement.waits_for_refund.now':
    '{gives} are locked for you until {refundAt}. Nobody else can take them without the secret.',
  'settlement.waits_for_refund.next': 'From then on this page sends them back to {address}.',
  'settlement.waits_for_refund.away': 'Open the app again after {refundAt}. Later is no problem.',
  'settlement.waits_for_refund.lose': 'The network fee of the refund.',

  'settlement.decide_extra.title': 'You paid more than agreed: decide',
  'settlement.decide_extra.now':
    '{extra} lie in the escrow beyond the {gives} agreed. To collect, you show a secret. It would let the other side take them too.',
  'settlement.decide_extra.next':
    'Wait, and everything you paid comes back from {refundAt} on. Or go on, collect {gets}, and risk {extra}.',
  'settlement.decide_extra.away':
    'Nothing is shown without your word. Everything comes back from {refundAt} on.',
  'settlement.decide_extra.lose': '{extra}, if you go on. Only a network fee, if you wait.',

  'settlement.collect.title': 'Collecting {gets}',
  'settlement.collect.now': 'This page sends the transaction that pays {gets} to {payTo}.',
  'settlement.collect.next': 'It is final after {otherRequired} confirmations.',
  'settlement.collect.away':
    'Do not close this page now. Whoever comes back later than {otherRefundAt} may lose {gets}.',
  'settlement.collect.lose': '{gets}, if nobody collects them before {otherRefundAt}.',

  'settlement.collecting.title': '{gets} are on their way to you',
  'settlement.collecting.now':
    'The transaction has {otherConfirmations} of {otherRequired} confirmations. It pays {payTo}.',
  'settlement.collecting.next': 'When it is final, you are done.',
  'settlement.collecting.away':
    'Before the first confirmation this page raises the fee if that is needed. Afterwards you may close it.',
  'settlement.collecting.lose': 'Nothing once it is final.',

  'settlement.received.title': 'You received {gets}',
  'settlement.received.now': 'They are yours for good. The other side has yet to collect {gives}.',
  'settlement.received.next': 'Nothing is left for you to do.',
  'settlement.received.away': 'You may close this page.',
  'settlement.received.lose': 'Nothing.',

  'settlement.refund.title': 'Taking {gives} back',
  'settlement.refund.now': 'The time lock is over. The refund pays {address}.',
  'settlement.refund.next': 'It is final after {required} confirmations.',
  'settlement.refund.away': 'The refund waits for you. Open the app again at any time.',
  'settlement.refund.lose': 'The network fee of the refund.',

  'settlement.refunding.title': 'Your refund is on its way',
  'settlement.refunding.now':
    'It has {refundConfirmations} of {required} confirmations, and pays {address}.',
  'settlement.refunding.next': 'When it is final, the swap is over.',
  'settlement.refunding.away': 'You may close this page once it has one confirmation.',
  'settlement.refunding.lose': 'The network fee.',

  'settlement.watching.title': 'Brought back: watched, never locked again',
  'settlement.watching.now':
    'No payment of yours is seen. Another device may have signed one that comes later, so this one signs none.',
  'settlement.watching.next': 'What comes is sent back to you from {refundAt} on.',
  'settlement.watching.away': 'Open the app again after {refundAt}.',
  'settlement.watching.lose': 'Nothing if nothing was paid.',

  'settlement.done_received.title': 'Done. You received {gets}',
  'settlement.done_received.now': 'They are at {payTo}, and final.',
  'settlement.done_received.next': 'Keep the receipt if you like.',
  'settlement.done_received.away': 'Nothing is open.',
  'settlement.done_received.lose': 'Nothing.',

  'settlement.done_refunded.title': 'Ended. You have {gives} back',
  'settlement.done_refunded.now': 'They are at {address}, less the network fee.',
  'settlement.done_refunded.next': 'You may ask for the swap again.',
  'settlement.done_refunded.away': 'Nothing is open.',
  'settlement.done_refunded.lose': 'Nothing more.',

  'settlement.done_nothing.title': 'Ended. Nothing moved',
  'settlement.done_nothing.now':
    'The other side did not lock {gets} before {initiatorFundBy}. No money of yours is locked.',
  'settlement.done_nothing.next': 'You may ask for the swap again.',
  'settlement.done_nothing.away': 'Nothing is open.',
  'settlement.done_nothing.lose': 'Nothing.',

  'settlement.done_not_locked.title': 'Ended. You locked nothing',
  'settlement.done_not_locked.now':
    '{gives} were not locked before {fundBy}, so the swap ended. What the other side has locked goes back to it.',
  'settlement.done_not_locked.next': 'You may ask for the swap again.',
  'settlement.done_not_locked.away': 'Nothing is open.',
  'settlement.done_not_locked.lose': 'Nothing.',

  'settlement.done_unpaid.title': 'Ended. No payment arrived in time',
  'settlement.done_unpaid.now':
    'Do not pay any more. If you did send a payment, it is not lost: it comes back to you from {refundAt} on.',
  'settlement.done_unpaid.next': 'This browser looks for a late payment whenever the app is open.',
  'settlement.done_unpaid.away': 'If you paid, open the app again after {refundAt}.',
  'settlement.done_unpaid.lose': 'Nothing if you did not pay; else the network fee of a refund.',

  'settlement.done_lost.title': 'Ended. The other side collected, and you did not',
  'settlement.done_lost.now':
    'The other side took {gives}. {gets} were not collected for you in time and went back to it.',
  'settlement.done_lost.next': 'Keep the receipt. It names every transaction.',
  'settlement.done_lost.away': 'Nothing is open.',
  'settlement.done_lost.lose': '{gives} are lost.',

  'settlement.legs': 'Both sides of the swap',
  'settlement.leg.own': 'You give {amount}',
  'settlement.leg.other': 'You get {amount}',
  'settlement.leg.chain': 'on {chain}',
  'settlement.leg.escrow': 'Escrow',
  'settlement.leg.no_escrow': 'not known before both sides have named their addresses',
  'settlement.leg.own_in': 'You lock',
  'settlement.leg.other_in': 'The other side locks',
  'settlement.leg.own_out': 'The other side collects',
  'settlement.leg.own_back': 'It comes back to you',
  'settlement.leg.other_out': 'You collect',
  'settlement.leg.other_back': 'It goes back to the other side',
  'settlement.leg.silent': 'not read yet',
  'settlement.leg.open': 'not yet',
  'settlement.leg.pool': 'seen, in no block yet',
  'settlement.leg.blocks': '{confirmations} of {required} confirmations',
  'settlement.leg.final': 'final',
  'settlement.leg.never': 'does not happen',
  'settlement.leg.lock': 'Locked until {at}',
  'settlement.leg.would_lock': 'Will be locked until {at}',
  'settlement.leg.state.done': 'Done:',
  'settlement.leg.state.now': 'Now:',
  'settlement.leg.state.later': 'Later:',
  'settlement.leg.state.never': 'Not:',
  'settlement.tx': 'Transaction',
  'settlement.tx.look': 'Look at it in {explorer}',

  'settlement.pay.blind':
    'Do not pay now: this page could not see the payment, or the terms are not yours',
  'settlement.pay.again': 'Pay the whole amount once more',
  'settlement.pay.exact': 'Exactly',
  'settlement.pay.to': 'To',
  'settlement.pay.before': 'Not after',
  'settlement.pay.qr': 'Payment of {amount} to {address}',
  'settlement.pay.open': 'Open in a wallet on this device',
  'settlement.pay.exchange':
    'From an exchange: type so much that {amount} arrive. Most deduct their fee from what you type, and some send an hour later.',
  'settlement.pay.less':
    'Less than {amount} is no payment. It comes back to you, a day or more later.',
  'settlement.pay.more': 'More than {amount} is not returned if the swap goes on.',
  'settlement.pay.late':
    'Do not pay after {at}. A late payment comes back to you, from {refundAt} on.',
  'settlement.pay.once': 'Pay once. A second payment is put at risk or comes back later.',
  'settlement.pay.what_address': 'address',
  'settlement.pay.what_amount': 'amount',

  'settlement.fates': 'Every payment to the escrow',
  'settlement.fate.amount': 'Amount',
  'settlement.fate.seen': 'Seen',
  'settlement.fate.becomes': 'What becomes of it',
  'settlement.fate.swap':
    'It is your side of the swap. If the swap fails, it comes back from {refundAt} on.',
  'settlement.fate.swap_more':
    'It is your side of the swap. {extra} of it are more than agreed: a payment cannot be split, and the other side would get them too.',
  'settlement.fate.back_later':
    'Not part of the swap. It comes back from {refundAt} on, less a network fee.',
  'settlement.fate.takeable':
    'Not part of the swap. The secret is out: the other side could take it until it comes back, from {refundAt} on.',
  'settlement.fate.collected': 'Collected by the other side.',
  'settlement.fate.collected_more': 'Collected by the other side, with {extra} more than agreed.',
  'settlement.fate.back': 'Sent back to you.',
  'settlement.fate.more': 'And {count} more payments.',

  'settlement.extra.wait': 'Wait, and take everything back',
  'settlement.extra.go': 'Go on, and risk {extra}',
  'settlement.extra.title': 'Risk {extra}?',
  'settlement.extra.sure':
    'The other side could take {extra} beside the {gives} agreed, and nobody could get them back. You collect {gets}.',
  'settlement.extra.waiting': 'Nothing is shown. Everything comes back from {refundAt} on.',

  'settlement.ask.connect': 'Connect the wallet {address} on {chain}',
  'settlement.ask.connect.why':
    'It is the account that was agreed for this swap. Another one cannot sign for it.',
  'settlement.ask.confirm': 'Confirm in your wallet',
  'settlement.ask.fund.native':
    'Your wallet shows a transaction that pays {gives} to the contract {contract}. Only the secret moves it to the other side. After {refundAt} it can only come back to you.',
  'settlement.ask.fund.token':
    'Your wallet lets the contract {contract} take exactly {gives}, by a signature or a transaction, and then pays them in. After {refundAt} they can only come back to you.',
  'settlement.ask.claim':
    'Your wallet shows a transaction that pays {gets} to {payTo}. It costs the network fee only.',
  'settlement.ask.refund':
    'Your wallet shows a transaction that pays {gives} back to {address}. It costs the network fee only.',
  'settlement.ask.cancel':
    'Your wallet shows a payment of nothing to yourself. It makes sure that the late payment never comes.',
  'settlement.ask.declined': 'You declined in your wallet',
  'settlement.ask.declined.fund':
    'Nothing was signed. You can ask it again until {fundBy}. If you do not, you lose nothing.',
  'settlement.ask.declined.claim':
    'Nothing was signed. Ask it again: {gets} are only yours once they are collected.',
  'settlement.ask.declined.refund':
    'Nothing was signed. {gives} stay in the escrow until you take them back.',
  'settlement.ask.sign.fund': 'Lock {gives} with your wallet',
  'settlement.ask.sign.claim': 'Collect {gets} with your wallet',
  'settlement.ask.sign.refund': 'Take {gives} back with your wallet',
  'settlement.ask.sign.go': 'Ask the wallet',
  'settlement.ask.payout': 'Name a Bitcoin address of yours',
  'settlement.ask.payout.why':
    'It is where you are paid or refunded. Nothing goes on before: type it below.',
  'settlement.ask.declined.go': 'Ask the wallet again',
  'settlement.ask.phrase': 'Your rescue phrase is needed',
  'settlement.ask.phrase.why': 'This browser has no key for the swap. Type the twelve words.',
  'settlement.ask.phrase.go': 'Type the phrase',

  'settlement.stopped.title': 'This swap has stopped and needs you',
  'settlement.stopped.again': 'Go on',
  'settlement.payto': 'You are paid at',
  'settlement.payto.refund': 'A refund is paid to',
  'settlement.payto.change': 'Pay another address',
  'settlement.payto.label': 'Bitcoin address',
  'settlement.payto.hint': 'An address of yours. It is checked before it is used.',
  'settlement.payto.save': 'Pay this address',
  'settlement.payto.kept': 'From now on {address} is paid.',
  'settlement.payto.leave': 'Leave it',
  'settlement.checks': 'What this browser has checked',
  'settlement.checks.ok': 'Right:',
  'settlement.checks.bad': 'Wrong:',
  'settlement.check.terms': 'Amounts and assets',
  'settlement.check.rules': 'Rules',
  'settlement.check.timelocks': 'Time locks',
  'settlement.check.phrase': 'Rescue phrase',
  'settlement.check.room': 'Room for one swap more',
  'settlement.check.store': 'What this browser keeps',
  'settlement.check.clock': 'Your clock',
  'settlement.check.nodes': 'Nodes',
  'settlement.check.addresses': 'Addresses',
  'settlement.check.agreed': 'Agreement',
  'settlement.check.escrows': 'Escrows',
  'settlement.history': 'What happened',
  'settlement.history.empty': 'Nothing yet in this browser.',
  'settlement.receipt': 'Receipt',
  'settlement.receipt.save': 'Save the receipt',
  'settlement.rescue.save': 'Save the rescue file',
  'settlement.id': 'Swap {id}',
} as const;
