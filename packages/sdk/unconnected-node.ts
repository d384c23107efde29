// Why a connection failed, by the codes of Node's sockets, of its TLS and of undici. `#unconnected` is
// this in Node, and unconnected-web.ts elsewhere: a page hears of no code.

const whys: readonly (readonly [RegExp, (isTls: boolean) => string])[] = [
  [/^ECONNREFUSED$/, () => 'nothing listens there. Is the market running, and at this port?'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, () => 'no machine has this name. Is it written as it should be?'],
  [
    /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|EPROTO)$/,
    () => 'it speaks no TLS. Does the address begin with http://?',
  ],
  [
    /CERT|SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY)/,
    () =>
      'its certificate is not trusted for this name. NODE_EXTRA_CA_CERTS names an authority of your own',
  ],
  [
    /^(ECONNRESET|EPIPE|UND_ERR_SOCKET|HPE_\w+)$/,
    (isTls) =>
      isTls
        ? 'the connection was closed'
        : 'the connection was closed, or it speaks no HTTP. Does the address begin with https://?',
  ],
  [/TIMEOUT|TIMEDOUT|UNREACH/, () => 'no connection came about'],
];

export function whyOf(error: Error, isTls: boolean): string | null {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known = code === '' ? undefined : whys.find(([form]) => form.test(code));
  return known === undefined ? null : `${known[1](isTls)} (${code})`;
}
