// Mail by SMTP, through the operator's mail server. On loopback nothing is encrypted unless the URL
// says smtps; elsewhere STARTTLS is used where it is offered, and a password is sent over nothing
// else. One message has one recipient, in the envelope and in `To`.

import nodemailer from 'nodemailer';
import type { Settings } from '../settings/config.ts';
import {
  idleMs,
  longestSubject,
  longestText,
  mailLimits,
  mailsOfConnection,
  mostInHand,
} from './bounds.ts';
import type { Courier, Outcome } from './courier.ts';

/** A local part, a domain, and nothing that a header or an envelope could take for more. */
const mailbox = /^[^\s\p{C}@<>()[\]\\,;:"]+@[^\s\p{C}@<>()[\]\\,;:"]+$/u;
const longestMailbox = 254;

export type MailSettings = NonNullable<Settings['people']['mail']>;

export function createMail(settings: MailSettings, limits = mailLimits): Courier {
  const from = fromOf(settings.from);
  const pool = nodemailer.createTransport(
    {
      ...serverOf(settings.url),
      pool: true,
      maxConnections: mostInHand,
      maxMessages: mailsOfConnection,
      // A connection that lay idle may be gone when it is used.
      maxRequeues: 1,
      idleTimeout: idleMs,
      name: from.domain,
      connectionTimeout: limits.connectMs,
      dnsTimeout: limits.connectMs,
      greetingTimeout: limits.greetingMs,
      socketTimeout: limits.silentMs,
      maxResponseSize: 16_384,
      logger: false,
      debug: false,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { xMailer: false, headers: { 'Auto-Submitted': 'auto-generated' } },
  );
  return {
    send: async (outgoing, signal) => {
      const { id, to, subject, body, at } = outgoing;
      if (!isMailbox(to)) return { kind: 'refused', error: 'no address that mail goes to' };
      const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.mailMs)]);
      try {
        await pool.sendMail({
          envelope: { from: from.address, to: [to] },
          from: { name: from.name, address: from.address },
          to: { name: '', address: to },
          messageId: `<${id}@${from.domain}>`,
          date: at,
          subject: subject.slice(0, longestSubject),
          text: body.slice(0, longestText),
          signal: limit,
        });
        return { kind: 'sent' };
      } catch (error) {
        return outcomeOf(error, limit.aborted);
      }
    },
    close: () => pool.close({ force: true }),
  };
}

export function isMailbox(text: string): boolean {
  return text.length <= longestMailbox && mailbox.test(text);
}

function fromOf(text: string): { name: string; address: string; domain: string } {
  const [, name = '', address = text] = /^([^<>]*) <([^<>]+)>$/.exec(text) ?? [];
  return { name, address, domain: address.slice(address.lastIndexOf('@') + 1) };
}

/** The rest of the URL is ignored: options of the library are not the operator's to choose. */
function serverOf(text: string) {
  const { protocol, hostname, port, username, password } = new URL(text);
  const secure = protocol === 'smtps:';
  const host = hostname.replace(/^\[|\]$/g, '');
  const user = decoded(username);
  const pass = decoded(password);
  const isLocal = ['localhost', '127.0.0.1', '::1'].includes(host.toLowerCase());
  return {
    host,
    secure,
    ...(port === '' ? {} : { port: Number(port) }),
    ...(user === '' ? {} : { auth: { user, pass } }),
    requireTLS: !secure && !isLocal && user !== '',
    ignoreTLS: isLocal,
    tls: { minVersion: 'TLSv1.2', rejectUnauthorized: true },
  } as const;
}

/** A percent sign that stands for itself is left as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

type SmtpError = {
  readonly code?: unknown;
  /** The code from Node: an error of a connection, or of its certificate. */
  readonly originalCode?: unknown;
  readonly command?: unknown;
  readonly responseCode?: unknown;
  readonly response?: unknown;
};

/** The faults of the operator's own settings, not of the world: certificates too. */
const ours = /^(EAUTH|ENOAUTH|ETLS|ECONFIG)$|CERT|SIGNED|VERIFY|_TLS_/;
/** The answers without an enhanced code (RFC 5321, 4.2.3): about the mailbox. */
const ofMailbox: ReadonlySet<number> = new Set([550, 551, 552, 553]);

/** The server's own words are left out: they name the address. */
function outcomeOf(error: unknown, isLate: boolean): Outcome {
  if (isLate) return { kind: 'again', error: 'no answer in time', isDown: true };
  const { code, originalCode, command, responseCode, response } = (error ?? {}) as SmtpError;
  const status = typeof responseCode === 'number' ? responseCode : 0;
  const [, enhanced = ''] = /^\d{3}[ -]([245]\.\d{1,3}\.\d{1,3})\b/.exec(String(response)) ?? [];
  const named = String(originalCode ?? code);
  const word = /^[A-Z0-9_]{1,60}$/.test(named) ? named : 'failed';
  const said = [word, status === 0 ? '' : status, enhanced].filter((each) => each !== '').join(' ');
  const isOfOne = command === 'RCPT TO' || command === 'DATA';
  if (status >= 500 && isOfOne && !ours.test(word)) {
    const isFinal = enhanced === '' ? ofMailbox.has(status) : /^5\.[12]\./.test(enhanced);
    if (isFinal) return { kind: 'refused', error: said };
  }
  const isDown = !(command === 'RCPT TO' && status < 500);
  return { kind: 'again', error: said, isDown, isOurs: ours.test(word) || status >= 500 };
}
