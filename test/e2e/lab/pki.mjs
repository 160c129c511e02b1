// Certificates for one lab cluster, made with Node alone (no openssl):   node pki.mjs DIR SERVER-URL
// Writes into DIR/pki two authorities, the API server's and its clients' certificates, the ServiceAccount
// signing key, and one kubeconfig per client (YAML that is JSON, so that every language reads it).
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

// --- DER (X.690), as much of it as X.509 needs -------------------------------
const der = (tag, ...parts) => {
  const body = Buffer.concat(parts)
  const size = []
  for (let n = body.length; n > 0; n >>= 8) size.unshift(n & 255)
  const length = body.length < 128 ? [body.length] : [0x80 | size.length, ...size]
  return Buffer.concat([Buffer.from([tag, ...length]), body])
}
const sequence = (...parts) => der(0x30, ...parts)
const integer = (bytes) => der(0x02, bytes[0] & 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
const text = (value) => der(0x0c, Buffer.from(value))
const octets = (value) => der(0x04, value)
const bits = (value) => der(0x03, Buffer.from([0]), value)
const yes = der(0x01, Buffer.from([255]))
const time = (date) =>
  der(
    0x17,
    Buffer.from(
      date
        .toISOString()
        .slice(2)
        .replace(/[-:T]|\.\d+/g, ''),
    ),
  )
const oid = (dotted) => {
  const [a, b, ...rest] = dotted.split('.').map(Number)
  const base128 = (n) => (n < 128 ? [n] : [...base128(n >> 7).map((x) => x | 0x80), n & 127])
  return der(0x06, Buffer.from([a * 40 + b, ...rest.flatMap((n) => base128(n))]))
}

// --- X.509 (RFC 5280) --------------------------------------------------------
const attributes = { CN: '2.5.4.3', O: '2.5.4.10' }
const name = (of) =>
  sequence(
    ...Object.entries(of).map(([key, value]) => der(0x31, sequence(oid(attributes[key]), text(value)))),
  )
const extension = (id, critical, value) => sequence(oid(id), ...(critical ? [yes] : []), octets(value))
const purpose = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' }
const alternative = (host) =>
  /^[\d.]+$/.test(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host))
const keyId = (publicKey) => createHash('sha1').update(publicKey).digest()
const pem = (label, body) =>
  `-----BEGIN ${label}-----\n${body.toString('base64').replace(/(.{64})(?!$)/g, '$1\n')}\n-----END ${label}-----\n`

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))
const yearFrom = (now, years) => new Date(now.getTime() + years * 365 * 86_400_000)

/** A key and its certificate. Without `issuer` it is an authority that signs itself. */
function certificate({ subject, issuer, usage, hosts = [] }) {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const authority = issuer === undefined
  const now = new Date()
  const extensions = [
    extension('2.5.29.19', true, authority ? sequence(yes) : sequence()),
    extension('2.5.29.15', true, Buffer.from(authority ? [3, 2, 1, 6] : [3, 2, 7, 0x80])),
    extension('2.5.29.14', false, octets(keyId(spki))),
    extension('2.5.29.35', false, sequence(der(0x80, keyId(issuer?.spki ?? spki)))),
    ...(usage ? [extension('2.5.29.37', false, sequence(oid(purpose[usage])))] : []),
    ...(hosts.length > 0 ? [extension('2.5.29.17', false, sequence(...hosts.map(alternative)))] : []),
  ]
  const toBeSigned = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    name(issuer?.subject ?? subject),
    sequence(time(yearFrom(now, -0.01)), time(yearFrom(now, 10))),
    name(subject),
    spki,
    der(0xa3, sequence(...extensions)),
  )
  const signature = sign('sha256', toBeSigned, issuer?.privateKey ?? privateKey)
  return {
    subject,
    privateKey,
    spki,
    crt: pem('CERTIFICATE', sequence(toBeSigned, ecdsaWithSha256, bits(signature))),
    key: privateKey.export({ type: 'sec1', format: 'pem' }),
  }
}

const [, , dir, server] = process.argv
const pki = path.join(dir, 'pki')
const save = (file, content) => writeFileSync(file, content, { mode: 0o600 })
const savePair = (file, { crt, key }) => {
  save(path.join(pki, `${file}.crt`), crt)
  if (key) save(path.join(pki, `${file}.key`), key)
}
mkdirSync(pki, { recursive: true, mode: 0o700 })

const ca = certificate({ subject: { CN: 'lab-ca' } })
const frontProxyCa = certificate({ subject: { CN: 'lab-front-proxy-ca' } })
savePair('ca', { crt: ca.crt })
savePair('front-proxy-ca', { crt: frontProxyCa.crt })
savePair(
  'apiserver',
  certificate({
    subject: { CN: 'kube-apiserver' },
    issuer: ca,
    usage: 'server',
    hosts: ['127.0.0.1', '10.96.0.1', 'localhost', 'kubernetes.default.svc'],
  }),
)
savePair(
  'front-proxy',
  certificate({ subject: { CN: 'front-proxy-client' }, issuer: frontProxyCa, usage: 'client' }),
)

const base64 = (value) => Buffer.from(value).toString('base64')
function kubeconfig(file, user, subject) {
  const { crt, key } = certificate({ subject, issuer: ca, usage: 'client' })
  const cluster = { server, 'certificate-authority-data': base64(ca.crt) }
  const credentials = { 'client-certificate-data': base64(crt), 'client-key-data': base64(key) }
  save(
    file,
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'lab',
      clusters: [{ name: 'lab', cluster }],
      contexts: [{ name: 'lab', context: { cluster: 'lab', user } }],
      users: [{ name: user, user: credentials }],
    }),
  )
}
kubeconfig(path.join(dir, 'kubeconfig'), 'lab-admin', { O: 'system:masters', CN: 'lab-admin' })
for (const component of ['controller-manager', 'scheduler']) {
  kubeconfig(path.join(pki, `${component}.kubeconfig`), component, { CN: `system:kube-${component}` })
}

const serviceAccounts = generateKeyPairSync('rsa', { modulusLength: 2048 })
save(path.join(pki, 'sa.key'), serviceAccounts.privateKey.export({ type: 'pkcs8', format: 'pem' }))
save(path.join(pki, 'sa.pub'), serviceAccounts.publicKey.export({ type: 'spki', format: 'pem' }))
