// German texts of a swap's settlement beside its status.

import type { settled as english } from '../en/settled.ts';
import type { Words } from '../words.ts';

export const settled: Words<typeof english> = {
  'settlement.happened.elsewhere': 'Ein anderer Tab hat weitergemacht.',
  'settlement.happened.state.preparing': 'Vereinbart. Adressen werden ausgetauscht.',
  'settlement.happened.state.waiting_to_fund': 'Die andere Seite sperrt zuerst.',
  'settlement.happened.state.funding': 'Du bist dran, {gives} zu sperren.',
  'settlement.happened.state.cancelling': 'Die Zeit zum Zahlen war vorbei.',
  'settlement.happened.state.funded': 'Deine {gives} sind gesperrt.',
  'settlement.happened.state.revealing': 'Beide Seiten sind gesperrt. Du holst zuerst ab.',
  'settlement.happened.state.claiming':
    'Das Geheimnis ist öffentlich: {gets} können abgeholt werden.',
  'settlement.happened.state.refunding':
    'Die Zeitsperre ist vorbei: {gives} können zurückgeholt werden.',
  'settlement.happened.state.received': 'Du hast {gets} bekommen.',
  'settlement.happened.state.settled': 'Nichts ist mehr zu tun.',
  'settlement.happened.address_set': 'Deine Adresse auf {chain} wurde genannt.',
  'settlement.happened.verified': 'Beide Escrows wurden gegen deine Bedingungen geprüft.',
  'settlement.happened.approved': 'Deine Wallet lässt den Vertrag {gives} nehmen.',
  'settlement.happened.signed': 'Deine Wallet hat die Zahlung von {gives} unterschrieben.',
  'settlement.happened.pay_by_hand': 'Du wurdest gebeten, {gives} in einer Zahlung zu zahlen.',
  'settlement.happened.asking': 'Es wartet, bis du deine Wallet fragen lässt.',
  'settlement.happened.prompting': 'Deine Wallet wurde gefragt.',
  'settlement.happened.wallet_refused': 'Deine Wallet hat nicht unterschrieben.',
  'settlement.happened.funded': 'Deine Zahlung von {gives} wurde gesendet.',
  'settlement.happened.scheduled': 'Unterschriebene Rückzahlungen liegen beim Markt.',
  'settlement.happened.seen': 'Eine Zahlung wurde auf {chain} gesehen.',
  'settlement.happened.claimed': 'Die Transaktion, die dir {gets} zahlt, wurde gesendet.',
  'settlement.happened.refunded': 'Die Rückzahlung von {gives} wurde gesendet.',
  'settlement.happened.replaced': 'Sie wurde mit höherer Gebühr noch einmal gesendet.',
  'settlement.happened.cancelled': 'Deine späte Zahlung wurde zurückgezogen.',
  'settlement.happened.waiting': 'Es wartet.',
  'settlement.happened.market_refused': 'Der Markt hat abgelehnt oder nicht geantwortet.',
  'settlement.happened.evidence':
    'Deine Knoten sagten nicht alle dasselbe, oder einer stand still.',
  'settlement.happened.market_lied': 'Der Markt sagte etwas anderes, als du vereinbart hast.',
  'settlement.happened.store': 'Dieser Browser hatte Mühe, den Swap zu behalten.',
  'settlement.happened.ended': 'Der Swap ist beendet.',
  'receipt.end.done_not_locked': 'Beendet: du hast nichts gesperrt',
  'settlement.wallet_confirm.title': 'Bestätige in {wallet}',
  'settlement.wallet_confirm.now':
    '{wallet} zeigt eine Zahlung von {gives} an {escrow}. Bestätige sie, wenn dort beides gleich ist. Zahle inzwischen nicht auf anderem Weg.',
  'settlement.wallet_confirm.next': 'Diese Seite sieht die Zahlung von selbst, meist in Sekunden.',
  'settlement.wallet_confirm.away':
    'Eine Zahlung, die du bestätigt hast, zählt trotzdem. Komm vor {revealBy} zum Abholen wieder.',
  'settlement.wallet_confirm.lose': 'Nichts, wenn du dort ablehnst.',
  'settlement.wallet_silent.title': '{wallet} hat nicht geantwortet',
  'settlement.wallet_silent.now':
    'Gefragt vor {since}. Sieh dort nach: die Zahlung kann noch zu sehen sein oder schon gezahlt. Noch zeigt kein Node eine.',
  'settlement.wallet_silent.next':
    'Zeigt sie die Zahlung, bestätige sie dort oder lehne ab. Zeigt sie weder Anfrage noch Zahlung, zahle auf anderem Weg.',
  'settlement.wallet_silent.away':
    'Eine Zahlung, die du bestätigt hast, zählt trotzdem. Komm vor {revealBy} zum Abholen wieder.',
  'settlement.wallet_silent.lose':
    'Zahlst du auf anderem Weg und sie zahlt auch, hast du zweimal gezahlt: bevor das in Gefahr gerät, wirst du gefragt.',
  'settlement.wallet_failed.title': '{wallet} sagt, dass sie nicht zahlen konnte',
  'settlement.wallet_failed.now': 'Sie sagte: {why}.',
  'settlement.wallet_failed.next':
    'Sieh in ihren Verlauf. Zeigt er keine Zahlung, zahle auf anderem Weg oder frag sie noch einmal.',
  'settlement.wallet_failed.away': 'Der Swap endet um {fundBy}, wenn nichts gezahlt wird.',
  'settlement.wallet_failed.lose': 'Nichts, wenn sie nicht gezahlt hat.',
  'settlement.wallet_sent.title': '{wallet} sagt, dass sie gezahlt hat',
  'settlement.wallet_sent.now':
    'Noch zeigt kein Node die Zahlung. Meist dauert das Sekunden. Zahle nicht ein zweites Mal.',
  'settlement.wallet_sent.next': 'Ist die Zahlung endgültig, sperrt die andere Seite {gets}.',
  'settlement.wallet_sent.away':
    'Du kannst diese Seite schließen. Komm vor {revealBy} zum Abholen wieder.',
  'settlement.wallet_sent.lose':
    'Nur Gebühren: scheitert der Swap, kommen {gives} ab {refundAt} zurück.',
  'settlement.wallet_unseen.title': '{wallet} sagt, dass sie gezahlt hat. Kein Node zeigt es',
  'settlement.wallet_unseen.now':
    'Das sagte sie vor {since}. Sieh in ihren Verlauf. Eine Zahlung, die dort steht, kommt von selbst. Steht dort keine, wurde nichts gezahlt.',
  'settlement.wallet_unseen.next':
    'Warte, oder such die Transaktion. Zahle nur auf anderem Weg, wenn du sicher bist, dass sie nicht gezahlt hat.',
  'settlement.wallet_unseen.away':
    'Der Swap endet um {fundBy}, wenn nichts kommt. Eine späte Zahlung kommt ab {refundAt} zurück.',
  'settlement.wallet_unseen.lose':
    'Zahlst du auf anderem Weg und sie zahlt auch, hast du zweimal gezahlt: bevor das in Gefahr gerät, wirst du gefragt.',
  'settlement.wallet.or': 'Oder von einer Wallet in diesem Browser',
  'settlement.wallet.pay': 'Mit {name} zahlen',
  'settlement.wallet.look':
    'Deine Wallet fragt, welches Konto zu sehen sein darf. Noch wird nichts gezahlt.',
  'settlement.wallet.declined': 'Du hast in deiner Wallet abgelehnt. Nichts wurde gezahlt.',
  'settlement.wallet.network': 'Deine Wallet ist in einem anderen Netz. Stell sie auf {chain} um',
  'settlement.wallet.refused': 'Die Wallet wurde nicht um eine Zahlung gebeten',
  'settlement.wallet.too_late': 'Lehne die Zahlung in {wallet} ab',
  'settlement.wallet.too_late.why':
    'Sie wurde um {askedAt} gefragt und zeigt die Zahlung vielleicht noch. Die Zeit zum Zahlen ist vorbei. Bestätigst du jetzt, kommt dein Geld ab {refundAt} zurück, abzüglich Netzwerkgebühren.',
  'settlement.wallet.leave': 'Sie hat nicht gezahlt: auf anderem Weg zahlen',
  'settlement.wallet.leave.title': 'Bist du sicher, dass {wallet} nicht gezahlt hat?',
  'settlement.wallet.leave.sure':
    'Schließ zuerst ihre Anfrage und sieh in ihren Verlauf. Zahlt sie doch und du auch, ist die zweite Zahlung in Gefahr oder kommt ab {refundAt} zurück.',
  'settlement.wallet.leave.not': 'Warten',
  'settlement.wallet.leave.go': 'Sie hat nicht gezahlt',
};
