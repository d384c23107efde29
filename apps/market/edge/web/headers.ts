// The rights of the app in a browser. Only answers of nodes come from elsewhere: people enter nodes
// of their own, and on this machine those have no certificate.

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self' https: wss: http://127.0.0.1:* ws://127.0.0.1:*",
  "manifest-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
];

/** Features that a script could ask a person for; all that are not used are off. */
const off = [
  'accelerometer',
  'autoplay',
  'bluetooth',
  'camera',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'local-fonts',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'screen-wake-lock',
  'serial',
  'storage-access',
  'usb',
  'web-share',
  'window-management',
  'xr-spatial-tracking',
];
const own = ['clipboard-write', 'publickey-credentials-create', 'publickey-credentials-get'];

/** Beside those of every answer. */
export const webHeaders = {
  'content-security-policy': policy.join('; '),
  'permissions-policy': [
    ...off.map((feature) => `${feature}=()`),
    ...own.map((feature) => `${feature}=(self)`),
  ].join(', '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;
