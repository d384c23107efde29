// Texts of a swap's settlement: what happens now, what next, until when one may be away, what can
// be lost. `{gives}` and `{gets}` are amounts with their unit, times are local with a countdown.

import type { settlement as english } from '../en/settlement.ts';
import type { Words } from '../words.ts';

export const settlement: Words<typeof english> = {
  'settlement.title': 'Swap: {gives} für {gets}',
  'settlement.loading': 'Liest, was dieser Browser vom Swap aufbewahrt…',
  'settlement.looking.title': 'Dein Swap',
  'settlement.unknown.title': 'Dieser Browser weiß nichts von diesem Swap',
  'settlement.unknown.why':
    'Swaps liegen in dem Browser, der sie vereinbart hat. Auf einem anderen Gerät bringst du sie mit deiner Rettungsphrase zurück.',
  'settlement.unknown.restore': 'Swaps zurückbringen',
  'settlement.unknown.list': 'Meine Swaps',
  'settlement.now': 'Jetzt',
  'settlement.next': 'Danach',
  'settlement.away': 'Wenn du diese Seite schließt',
  'settlement.lose': 'Was du verlieren kannst',
  'settlement.until': 'Bis',
  'settlement.from': 'Kommt zurück ab',

  'settlement.starting.title': 'Sieht auf beiden Chains nach',
  'settlement.starting.now': 'Diese Seite liest, was beide Chains zeigen.',
  'settlement.starting.next': 'Gleich siehst du, was ansteht.',
  'settlement.starting.away': 'Nichts geht weiter, bis wieder eine Seite offen ist.',
  'settlement.starting.lose': 'Nichts, wenn du kurz wartest.',

  'settlement.preparing.title': 'Vereinbart. Die Adressen werden ausgetauscht',
  'settlement.preparing.now':
    'Deine Adressen sind genannt. Die andere Seite muss ihre noch nennen. Noch ist nichts bezahlt.',
  'settlement.preparing.next':
    'Sind beide da, prüft diese Seite die Escrows gegen deine Bedingungen.',
  'settlement.preparing.away':
    'Nichts wird bezahlt, nichts ist verloren. Der Swap endet von selbst.',
  'settlement.preparing.lose': 'Nichts: es wurde kein Geld bewegt.',

  'settlement.other_funds_first.title': 'Die andere Seite sperrt zuerst',
  'settlement.other_funds_first.now':
    'Du wartest, bis {gets} der anderen Seite gesperrt und endgültig sind. Zahle vorher nicht.',
  'settlement.other_funds_first.next': 'Dann bist du dran, {gives} zu sperren, bis {fundBy}.',
  'settlement.other_funds_first.away':
    'Komm vor {fundBy} wieder. Sonst endet der Swap, und du verlierst nichts.',
  'settlement.other_funds_first.lose': 'Nichts: du hast nicht bezahlt.',

  'settlement.pay_not_yet.title': 'Zahle noch nicht',
  'settlement.pay_not_yet.now':
    'Bevor {gives} gezahlt werden dürfen, fehlt etwas: siehe die Hinweise auf dieser Seite.',
  'settlement.pay_not_yet.next': 'Ist es da, zeigt diese Seite Adresse und Betrag.',
  'settlement.pay_not_yet.away': 'Der Swap endet um {fundBy}, und du verlierst nichts.',
  'settlement.pay_not_yet.lose': 'Nichts: du hast nicht bezahlt.',

  'settlement.pay_held.title': 'Zahle jetzt nicht',
  'settlement.pay_held.now':
    'Auf die Nodes einer Chain ist gerade kein Verlass: siehe die Hinweise auf dieser Seite. Bis das vorbei ist, wird nichts gesperrt.',
  'settlement.pay_held.next':
    'Ist das vorbei, zeigt diese Seite Adresse und Betrag wieder. Durch Warten verlierst du nichts.',
  'settlement.pay_held.away': 'Der Swap endet um {fundBy}, und du verlierst nichts.',
  'settlement.pay_held.lose':
    'Hast du schon bezahlt, ist nichts verloren: es zählt, sobald es zu sehen ist, oder kommt ab {refundAt} zurück.',

  'settlement.pay.title': 'Zahle {gives} in einer Zahlung',
  'settlement.pay.now':
    'Sende genau {gives} an die Adresse unten, von irgendeiner Wallet oder Börse. Diese Seite wartet darauf.',
  'settlement.pay.next':
    'Ist die Zahlung endgültig, sperrt die andere Seite {gets}. Dann holt diese Seite sie für dich ab.',
  'settlement.pay.away':
    'Nach dem Zahlen kannst du diese Seite schließen. Komm vor {revealBy} zum Abholen wieder.',
  'settlement.pay.lose':
    'Was du zahlst, kommt ab {refundAt} zurück, wenn der Swap scheitert. Verloren sind nur Netzwerkgebühren.',

  'settlement.pay_again.title': 'Es ist zu wenig angekommen',
  'settlement.pay_again.now':
    '{arrived} sind angekommen, der Swap braucht {gives} in einer Zahlung. Zahlungen werden nicht zusammengezählt. Börsen ziehen oft ihre Gebühr ab.',
  'settlement.pay_again.next':
    'Du kannst es lassen: was ankam, kommt ab {refundAt} zurück. Oder zahle die ganzen {gives} noch einmal, in einer Zahlung.',
  'settlement.pay_again.away':
    'Der Swap endet um {fundBy}, wenn nichts mehr kommt. Komm ab {refundAt} für deine Rückzahlung wieder.',
  'settlement.pay_again.lose':
    'Eine Netzwerkgebühr. Zahlst du noch einmal, fragt dich der Swap, bevor er die kleine Zahlung riskiert.',

  'settlement.paid_little.title': 'Es kam zu wenig an, und die Zeit zum Zahlen ist vorbei',
  'settlement.paid_little.now':
    '{arrived} liegen im Escrow. Die andere Seite kann sie nicht nehmen: das Geheimnis bleibt bei dir.',
  'settlement.paid_little.next': 'Ab {refundAt} sendet diese Seite sie zurück an {address}.',
  'settlement.paid_little.away':
    'Weg zu sein kostet nichts. Öffne die App nach {refundAt} wieder für die Rückzahlung.',
  'settlement.paid_little.lose': 'Die Netzwerkgebühr der Rückzahlung.',

  'settlement.pay_too_late.title': 'Die Zeit zum Zahlen ist vorbei',
  'settlement.pay_too_late.now': 'Vor {fundBy} kam keine Zahlung an. Zahle nicht mehr.',
  'settlement.pay_too_late.next':
    'Der Swap endet. Ist deine Zahlung noch unterwegs, kommt sie ab {refundAt} zurück.',
  'settlement.pay_too_late.away':
    'Hast du nicht bezahlt, ist nichts verloren. Sonst öffne die App nach {refundAt} wieder.',
  'settlement.pay_too_late.lose':
    'Nichts, wenn du nicht bezahlt hast; sonst die Netzwerkgebühr einer Rückzahlung.',

  'settlement.paid.title': 'Deine Zahlung ist zu sehen',
  'settlement.paid.now':
    'Sie ist im Netz, mit {confirmations} von {required} Bestätigungen. Zahle nicht ein zweites Mal.',
  'settlement.paid.next': 'Ist sie endgültig, sperrt die andere Seite {gets}.',
  'settlement.paid.away':
    'Du kannst diese Seite schließen. Komm vor {revealBy} wieder und hol {gets} ab.',
  'settlement.paid.lose': 'Nur Gebühren: scheitert der Swap, kommen {gives} ab {refundAt} zurück.',

  'settlement.paid_late.title': 'Deine Zahlung kam spät',
  'settlement.paid_late.now':
    'Sie ist zu sehen, aber zur vereinbarten Zeit nicht endgültig. Die andere Seite darf vielleicht nicht mehr sperren.',
  'settlement.paid_late.next':
    'Sperrt die andere Seite doch noch, geht der Swap weiter. Sonst sendet diese Seite {gives} ab {refundAt} zurück.',
  'settlement.paid_late.away': 'Öffne die App vor {revealBy} wieder, und nach {refundAt}.',
  'settlement.paid_late.lose': 'Die Netzwerkgebühr der Rückzahlung.',

  'settlement.fund.title': 'Sperre {gives}',
  'settlement.fund.now':
    'Deine Wallet soll {gives} in dem Escrow sperren, das diese Seite geprüft hat.',
  'settlement.fund.next': 'Ist das endgültig, geht der Swap von selbst weiter.',
  'settlement.fund.away':
    'Ohne dich wird nichts signiert. Der Swap endet um {fundBy}, und du verlierst nichts.',
  'settlement.fund.lose':
    'Netzwerkgebühren. {gives} kommen ab {refundAt} zurück, wenn der Swap scheitert.',

  'settlement.fund_sent.title': 'Deine Zahlung ist unterwegs',
  'settlement.fund_sent.now': '{gives} haben {confirmations} von {required} Bestätigungen.',
  'settlement.fund_sent.next': 'Sind sie endgültig, ist die andere Seite dran.',
  'settlement.fund_sent.away': 'Komm vor {back} wieder.',
  'settlement.fund_sent.lose':
    'Netzwerkgebühren. {gives} kommen ab {refundAt} zurück, wenn der Swap scheitert.',

  'settlement.cancelling.title': 'Die Zeit zum Zahlen ist vorbei',
  'settlement.cancelling.now':
    'Kein Block nahm deine Zahlung rechtzeitig. Diese Seite sorgt dafür, dass es nie mehr geschieht.',
  'settlement.cancelling.next': 'Der Swap endet, und nichts wurde bewegt.',
  'settlement.cancelling.away':
    'Deine Zahlung könnte noch spät durchgehen. Dann käme sie ab {refundAt} zurück.',
  'settlement.cancelling.lose': 'Eine Netzwerkgebühr.',

  'settlement.other_funds.title': 'Deine {gives} sind gesperrt',
  'settlement.other_funds.now':
    'Jetzt sperrt die andere Seite {gets}. Sie hat Zeit bis {counterpartyFundBy}.',
  'settlement.other_funds.next': 'Sind sie endgültig, holt diese Seite sie für dich ab.',
  'settlement.other_funds.away':
    'Komm vor {revealBy} wieder: ohne dich holt niemand ab. Sonst kommen {gives} ab {refundAt} zurück.',
  'settlement.other_funds.lose': 'Nur Gebühren und Zeit.',

  'settlement.other_collects.title': 'Beide Seiten sind gesperrt',
  'settlement.other_collects.now':
    'Als Nächstes holt die andere Seite ab, vor {revealBy}. Das zeigt das Geheimnis, mit dem du abholst.',
  'settlement.other_collects.next': 'Dann holt diese Seite sofort {gets} für dich ab.',
  'settlement.other_collects.away':
    'Öffne die App zwischen {revealBy} und {otherRefundAt} wieder. Hat die andere Seite abgeholt, musst du vor {otherRefundAt} abholen.',
  'settlement.other_collects.lose':
    'Holt die andere Seite ab und bleibst du bis {otherRefundAt} weg, könnte sie {gets} zurückholen: du verlörest {gives}.',

  'settlement.other_is_late.title': 'Die andere Seite hat nicht rechtzeitig abgeholt',
  'settlement.other_is_late.now':
    'Sie hatte Zeit bis {revealBy}. {gives} sind für dich gesperrt bis {refundAt}. Holt sie doch noch spät ab, holt diese Seite {gets} ab.',
  'settlement.other_is_late.next': 'Ab {refundAt} sendet diese Seite {gives} zurück an {address}.',
  'settlement.other_is_late.away':
    'Öffne die App bald nach {refundAt} wieder, und vor {otherRefundAt}. Bis dahin könnte die andere Seite noch abholen.',
  'settlement.other_is_late.lose':
    'Holt die andere Seite ab und bleibst du bis {otherRefundAt} weg, verlörest du {gives}.',

  'settlement.waits_for_refund.title': 'Der Swap geht nicht weiter. Dein Geld kommt zurück',
  'settlement.waits_for_refund.now':
    '{gives} sind für dich gesperrt bis {refundAt}. Ohne das Geheimnis kann sie sonst niemand nehmen.',
  'settlement.waits_for_refund.next': 'Ab dann sendet diese Seite sie zurück an {address}.',
  'settlement.waits_for_refund.away':
    'Öffne die App nach {refundAt} wieder. Später ist kein Problem.',
  'settlement.waits_for_refund.lose': 'Die Netzwerkgebühr der Rückzahlung.',

  'settlement.decide_extra.title': 'Du hast mehr gezahlt als vereinbart: entscheide',
  'settlement.decide_extra.now':
    '{extra} liegen über die vereinbarten {gives} hinaus im Escrow. Zum Abholen zeigst du ein Geheimnis. Damit könnte die andere Seite auch sie nehmen.',
  'settlement.decide_extra.next':
    'Warte, und alles Gezahlte kommt ab {refundAt} zurück. Oder mach weiter, hol {gets} ab und riskiere {extra}.',
  'settlement.decide_extra.away':
    'Ohne dein Wort wird nichts gezeigt. Alles kommt ab {refundAt} zurück.',
  'settlement.decide_extra.lose':
    '{extra}, wenn du weitermachst. Nur eine Netzwerkgebühr, wenn du wartest.',

  'settlement.collect.title': 'Holt {gets} ab',
  'settlement.collect.now': 'Diese Seite sendet die Transaktion, die {gets} an {payTo} zahlt.',
  'settlement.collect.next': 'Sie ist nach {otherRequired} Bestätigungen endgültig.',
  'settlement.collect.away':
    'Schließe diese Seite jetzt nicht. Wer später als {otherRefundAt} wiederkommt, kann {gets} verlieren.',
  'settlement.collect.lose': '{gets}, wenn niemand sie vor {otherRefundAt} abholt.',

  'settlement.collecting.title': '{gets} sind zu dir unterwegs',
  'settlement.collecting.now':
    'Die Transaktion hat {otherConfirmations} von {otherRequired} Bestätigungen. Sie zahlt an {payTo}.',
  'settlement.collecting.next': 'Ist sie endgültig, bist du fertig.',
  'settlement.collecting.away':
    'Vor der ersten Bestätigung erhöht diese Seite die Gebühr, falls nötig. Danach kannst du sie schließen.',
  'settlement.collecting.lose': 'Nichts, sobald sie endgültig ist.',

  'settlement.received.title': 'Du hast {gets} bekommen',
  'settlement.received.now':
    'Sie gehören endgültig dir. Die andere Seite muss {gives} noch abholen.',
  'settlement.received.next': 'Für dich bleibt nichts zu tun.',
  'settlement.received.away': 'Du kannst diese Seite schließen.',
  'settlement.received.lose': 'Nichts.',

  'settlement.refund.title': 'Holt {gives} zurück',
  'settlement.refund.now': 'Die Zeitsperre ist vorbei. Die Rückzahlung geht an {address}.',
  'settlement.refund.next': 'Sie ist nach {required} Bestätigungen endgültig.',
  'settlement.refund.away':
    'Die Rückzahlung wartet auf dich. Öffne die App wieder, wann du willst.',
  'settlement.refund.lose': 'Die Netzwerkgebühr der Rückzahlung.',

  'settlement.refunding.title': 'Deine Rückzahlung ist unterwegs',
  'settlement.refunding.now':
    'Sie hat {refundConfirmations} von {required} Bestätigungen und geht an {address}.',
  'settlement.refunding.next': 'Ist sie endgültig, ist der Swap zu Ende.',
  'settlement.refunding.away': 'Du kannst diese Seite schließen, sobald sie eine Bestätigung hat.',
  'settlement.refunding.lose': 'Die Netzwerkgebühr.',

  'settlement.watching.title': 'Zurückgebracht: beobachtet, nie wieder gesperrt',
  'settlement.watching.now':
    'Keine Zahlung von dir ist zu sehen. Ein anderes Gerät kann eine signiert haben, die später kommt; darum signiert dieses keine.',
  'settlement.watching.next': 'Was kommt, geht ab {refundAt} an dich zurück.',
  'settlement.watching.away': 'Öffne die App nach {refundAt} wieder.',
  'settlement.watching.lose': 'Nichts, wenn nichts bezahlt wurde.',

  'settlement.done_received.title': 'Erledigt. Du hast {gets} bekommen',
  'settlement.done_received.now': 'Sie sind bei {payTo}, und endgültig.',
  'settlement.done_received.next': 'Speichere die Quittung, wenn du magst.',
  'settlement.done_received.away': 'Nichts ist offen.',
  'settlement.done_received.lose': 'Nichts.',

  'settlement.done_refunded.title': 'Beendet. Du hast {gives} zurück',
  'settlement.done_refunded.now': 'Sie sind bei {address}, abzüglich der Netzwerkgebühr.',
  'settlement.done_refunded.next': 'Du kannst noch einmal anfragen.',
  'settlement.done_refunded.away': 'Nichts ist offen.',
  'settlement.done_refunded.lose': 'Nichts weiter.',

  'settlement.done_nothing.title': 'Beendet. Nichts wurde bewegt',
  'settlement.done_nothing.now':
    'Die andere Seite hat {gets} nicht vor {initiatorFundBy} gesperrt. Von dir ist nichts gesperrt.',
  'settlement.done_nothing.next': 'Du kannst noch einmal anfragen.',
  'settlement.done_nothing.away': 'Nichts ist offen.',
  'settlement.done_nothing.lose': 'Nichts.',

  'settlement.done_not_locked.title': 'Beendet. Du hast nichts gesperrt',
  'settlement.done_not_locked.now':
    '{gives} wurden nicht vor {fundBy} gesperrt, also endete der Swap. Was die andere Seite gesperrt hat, geht an sie zurück.',
  'settlement.done_not_locked.next': 'Du kannst den Swap noch einmal anfragen.',
  'settlement.done_not_locked.away': 'Nichts ist offen.',
  'settlement.done_not_locked.lose': 'Nichts.',

  'settlement.done_unpaid.title': 'Beendet. Keine Zahlung kam rechtzeitig an',
  'settlement.done_unpaid.now':
    'Zahle nicht mehr. Hast du doch eine Zahlung gesendet, ist sie nicht verloren: sie kommt ab {refundAt} zurück.',
  'settlement.done_unpaid.next':
    'Dieser Browser sucht nach einer späten Zahlung, wann immer die App offen ist.',
  'settlement.done_unpaid.away': 'Hast du bezahlt, öffne die App nach {refundAt} wieder.',
  'settlement.done_unpaid.lose':
    'Nichts, wenn du nicht bezahlt hast; sonst die Netzwerkgebühr einer Rückzahlung.',

  'settlement.done_lost.title': 'Beendet. Die andere Seite hat abgeholt, du nicht',
  'settlement.done_lost.now':
    'Die andere Seite nahm {gives}. {gets} wurden für dich nicht rechtzeitig abgeholt und gingen an sie zurück.',
  'settlement.done_lost.next': 'Speichere die Quittung. Sie nennt jede Transaktion.',
  'settlement.done_lost.away': 'Nichts ist offen.',
  'settlement.done_lost.lose': '{gives} sind verloren.',

  'settlement.legs': 'Beide Seiten des Swaps',
  'settlement.leg.own': 'Du gibst {amount}',
  'settlement.leg.other': 'Du bekommst {amount}',
  'settlement.leg.chain': 'auf {chain}',
  'settlement.leg.escrow': 'Escrow',
  'settlement.leg.no_escrow': 'nicht bekannt, bevor beide Seiten ihre Adressen genannt haben',
  'settlement.leg.own_in': 'Du sperrst',
  'settlement.leg.other_in': 'Die andere Seite sperrt',
  'settlement.leg.own_out': 'Die andere Seite holt ab',
  'settlement.leg.own_back': 'Es kommt zu dir zurück',
  'settlement.leg.other_out': 'Du holst ab',
  'settlement.leg.other_back': 'Es geht an die andere Seite zurück',
  'settlement.leg.silent': 'noch nicht gelesen',
  'settlement.leg.open': 'noch nicht',
  'settlement.leg.pool': 'gesehen, noch in keinem Block',
  'settlement.leg.blocks': '{confirmations} von {required} Bestätigungen',
  'settlement.leg.final': 'endgültig',
  'settlement.leg.never': 'geschieht nicht',
  'settlement.leg.lock': 'Gesperrt bis {at}',
  'settlement.leg.would_lock': 'Wird gesperrt bis {at}',
  'settlement.leg.state.done': 'Erledigt:',
  'settlement.leg.state.now': 'Jetzt:',
  'settlement.leg.state.later': 'Später:',
  'settlement.leg.state.never': 'Nicht:',
  'settlement.tx': 'Transaktion',
  'settlement.tx.look': 'In {explorer} ansehen',

  'settlement.pay.blind':
    'Zahle jetzt nicht: diese Seite könnte die Zahlung nicht sehen, oder die Bedingungen sind nicht deine',
  'settlement.pay.again': 'Den ganzen Betrag noch einmal zahlen',
  'settlement.pay.exact': 'Genau',
  'settlement.pay.to': 'An',
  'settlement.pay.before': 'Nicht nach',
  'settlement.pay.qr': 'Zahlung von {amount} an {address}',
  'settlement.pay.open': 'In einer Wallet auf diesem Gerät öffnen',
  'settlement.pay.exchange':
    'Von einer Börse: gib so viel ein, dass {amount} ankommen. Die meisten ziehen ihre Gebühr davon ab, und manche senden eine Stunde später.',
  'settlement.pay.less':
    'Weniger als {amount} ist keine Zahlung. Es kommt zurück, einen Tag oder mehr später.',
  'settlement.pay.more': 'Mehr als {amount} kommt nicht zurück, wenn der Swap weitergeht.',
  'settlement.pay.late': 'Zahle nicht nach {at}. Eine späte Zahlung kommt ab {refundAt} zurück.',
  'settlement.pay.once':
    'Zahle einmal. Eine zweite Zahlung ist in Gefahr oder kommt erst später zurück.',
  'settlement.pay.what_address': 'Adresse',
  'settlement.pay.what_amount': 'Betrag',

  'settlement.fates': 'Jede Zahlung an das Escrow',
  'settlement.fate.amount': 'Betrag',
  'settlement.fate.seen': 'Gesehen',
  'settlement.fate.becomes': 'Was daraus wird',
  'settlement.fate.swap':
    'Sie ist deine Seite des Swaps. Scheitert der Swap, kommt sie ab {refundAt} zurück.',
  'settlement.fate.swap_more':
    'Sie ist deine Seite des Swaps. {extra} davon sind mehr als vereinbart: eine Zahlung lässt sich nicht teilen, und die andere Seite bekäme sie auch.',
  'settlement.fate.back_later':
    'Nicht Teil des Swaps. Sie kommt ab {refundAt} zurück, abzüglich einer Netzwerkgebühr.',
  'settlement.fate.takeable':
    'Nicht Teil des Swaps. Das Geheimnis ist bekannt: die andere Seite könnte sie nehmen, bis sie ab {refundAt} zurückkommt.',
  'settlement.fate.collected': 'Von der anderen Seite abgeholt.',
  'settlement.fate.collected_more':
    'Von der anderen Seite abgeholt, mit {extra} mehr als vereinbart.',
  'settlement.fate.back': 'An dich zurückgesendet.',
  'settlement.fate.more': {
    one: 'Und {count} weitere Zahlung.',
    other: 'Und {count} weitere Zahlungen.',
  },

  'settlement.extra.wait': 'Warten und alles zurückholen',
  'settlement.extra.go': 'Weitermachen und {extra} riskieren',
  'settlement.extra.title': '{extra} riskieren?',
  'settlement.extra.sure':
    'Die andere Seite könnte {extra} zusätzlich zu den vereinbarten {gives} nehmen, und niemand könnte sie zurückholen. Du holst {gets} ab.',
  'settlement.extra.waiting': 'Nichts wird gezeigt. Alles kommt ab {refundAt} zurück.',

  'settlement.ask.connect': 'Verbinde die Wallet {address} auf {chain}',
  'settlement.ask.connect.why':
    'Sie wurde für diesen Swap vereinbart. Eine andere kann nicht für ihn signieren.',
  'settlement.ask.confirm': 'Bestätige in deiner Wallet',
  'settlement.ask.fund.native':
    'Deine Wallet zeigt eine Transaktion, die {gives} an den Contract {contract} zahlt. Nur das Geheimnis bewegt sie zur anderen Seite. Nach {refundAt} können sie nur zu dir zurück.',
  'settlement.ask.fund.token':
    'Deine Wallet erlaubt dem Contract {contract}, genau {gives} zu nehmen, mit einer Signatur oder einer Transaktion, und sperrt sie dann. Nach {refundAt} können sie nur zu dir zurück.',
  'settlement.ask.claim':
    'Deine Wallet zeigt eine Transaktion, die {gets} an {payTo} zahlt. Sie kostet nur die Netzwerkgebühr.',
  'settlement.ask.refund':
    'Deine Wallet zeigt eine Transaktion, die {gives} an {address} zurückzahlt. Sie kostet nur die Netzwerkgebühr.',
  'settlement.ask.cancel':
    'Deine Wallet zeigt eine Zahlung von nichts an dich selbst. Sie sorgt dafür, dass die späte Zahlung nie kommt.',
  'settlement.ask.declined': 'Du hast in deiner Wallet abgelehnt',
  'settlement.ask.declined.fund':
    'Nichts wurde signiert. Du kannst sie bis {fundBy} noch einmal fragen. Sonst verlierst du nichts.',
  'settlement.ask.declined.claim':
    'Nichts wurde signiert. Frag sie noch einmal: {gets} gehören dir erst, wenn sie abgeholt sind.',
  'settlement.ask.declined.refund':
    'Nichts wurde signiert. {gives} bleiben im Escrow, bis du sie zurückholst.',
  'settlement.ask.sign.fund': '{gives} mit deiner Wallet sperren',
  'settlement.ask.sign.claim': '{gets} mit deiner Wallet abholen',
  'settlement.ask.sign.refund': '{gives} mit deiner Wallet zurückholen',
  'settlement.ask.sign.go': 'Wallet fragen',
  'settlement.ask.payout': 'Nenne eine Bitcoin-Adresse von dir',
  'settlement.ask.payout.why':
    'Dorthin geht, was du bekommst oder zurückholst. Vorher geht nichts weiter: gib sie unten ein.',
  'settlement.ask.declined.go': 'Wallet noch einmal fragen',
  'settlement.ask.phrase': 'Deine Rettungsphrase wird gebraucht',
  'settlement.ask.phrase.why':
    'Dieser Browser hat keinen Schlüssel für den Swap. Gib die zwölf Wörter ein.',
  'settlement.ask.phrase.go': 'Phrase eingeben',

  'settlement.stopped.title': 'Dieser Swap steht und braucht dich',
  'settlement.stopped.again': 'Weiter',
  'settlement.payto': 'Du bekommst an',
  'settlement.payto.refund': 'Eine Rückzahlung geht an',
  'settlement.payto.change': 'An eine andere Adresse zahlen',
  'settlement.payto.label': 'Bitcoin-Adresse',
  'settlement.payto.hint': 'Eine Adresse von dir. Sie wird geprüft, bevor sie benutzt wird.',
  'settlement.payto.save': 'An diese Adresse zahlen',
  'settlement.payto.kept': 'Ab jetzt wird an {address} gezahlt.',
  'settlement.payto.leave': 'So lassen',
  'settlement.checks': 'Was dieser Browser geprüft hat',
  'settlement.checks.ok': 'Richtig:',
  'settlement.checks.bad': 'Falsch:',
  'settlement.check.terms': 'Beträge und Coins',
  'settlement.check.rules': 'Regeln',
  'settlement.check.timelocks': 'Zeitsperren',
  'settlement.check.phrase': 'Rettungsphrase',
  'settlement.check.room': 'Platz für einen Swap mehr',
  'settlement.check.store': 'Was dieser Browser aufbewahrt',
  'settlement.check.clock': 'Deine Uhr',
  'settlement.check.nodes': 'Nodes',
  'settlement.check.addresses': 'Adressen',
  'settlement.check.agreed': 'Vereinbarung',
  'settlement.check.escrows': 'Escrows',
  'settlement.history': 'Was geschehen ist',
  'settlement.history.empty': 'In diesem Browser noch nichts.',
  'settlement.receipt': 'Quittung',
  'settlement.receipt.save': 'Quittung speichern',
  'settlement.rescue.save': 'Rettungsdatei speichern',
  'settlement.id': 'Swap {id}',
};
