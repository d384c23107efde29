// Texts of the sign-in screen, of who comes back from a provider, and of the account's navigation.

import type { signIn as english } from '../en/sign-in.ts';
import type { Words } from '../words.ts';

export const signIn: Words<typeof english> = {
  'session.none': 'Hier ist niemand angemeldet',
  'session.none.why': 'Diese Seite gehört zu einem Konto. Danach kommst du hierher zurück.',
  'session.sign-in': 'Anmelden',

  'sign-in.title': 'Anmelden',
  'sign-in.what':
    'Eine Adresse, ein Anbieter oder eine Wallet, die hier neu ist, eröffnet ein Konto. Ein Passkey meldet bei dem Konto an, dem er hinzugefügt wurde.',
  'sign-in.keys':
    'Anmelden bewegt kein Geld: die Schlüssel deiner Coins bleiben in deiner Wallet und in diesem Browser. Keine Anmeldung fragt nach deiner Rettungsphrase.',
  'sign-in.is': 'Du bist angemeldet als {name}',
  'sign-in.go_on': 'Weiter',
  'sign-in.other': 'Abmelden und als jemand anders anmelden',

  'returned.cancelled': 'Die Anmeldung wurde abgebrochen.',
  'returned.gone':
    'Diese Anmeldung wurde schon benutzt, ist zu alt oder wurde in einem anderen Browser begonnen. Beginne neu.',
  'returned.down':
    'Der Anbieter antwortet nicht. Versuch es später oder melde dich auf anderem Weg an.',
  'returned.bad_proof': 'Was der Anbieter geantwortet hat, beweist nichts. Beginne neu.',
  'returned.taken':
    'Dieser Login gehört zu einem anderen Konto, und nichts wurde verschoben. Melde dich dort damit an oder nimm einen anderen.',
  'returned.unknown_login': 'Das ist kein Login dieses Kontos.',
  'returned.ended': 'Die Sitzung ist zu Ende. Melde dich neu an.',
  'returned.stale':
    'Um einen Login hinzuzufügen, muss die Anmeldung jünger als 10 Minuten sein. Melde dich neu an und füge ihn dann hinzu.',
  'returned.too_many': 'Das Konto hat 20 Logins, mehr geht nicht. Entferne zuerst einen.',
  'returned.off': 'Dieser Anbieter wird nicht mehr angeboten.',
  'returned.unavailable': 'Der Markt konnte das gerade nicht. Versuch es in ein paar Sekunden.',
  'returned.failed': 'Die Anmeldung ist nicht gelungen. Versuch es noch einmal.',
  'returned.signed_in': 'Du bist angemeldet.',
  'returned.added': 'Der Login ist hinzugefügt.',
  'returned.already':
    'Das war schon ein Login dieses Kontos, hinzugefügt wurde nichts. Du bist neu angemeldet.',
  'returned.renewed': 'Du bist neu angemeldet. Tu noch einmal, was du tun wolltest.',

  'account.nav': 'Dein Konto',
  'account.nav.account': 'Konto',
  'account.nav.wallets': 'Wallets und Auszahlung',
  'account.nav.activity': 'Verlauf',
  'account.nav.notifications': 'Benachrichtigungen',
  'account.nav.keys': 'API-Schlüssel',
  'account.nav.webhooks': 'Webhooks',
  'account.nav.assets': 'Coins',
  'account.nav.settings': 'Einstellungen',
};
