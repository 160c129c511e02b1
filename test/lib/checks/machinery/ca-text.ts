import { generateKeyPairSync, sign } from 'node:crypto'

const keys = generateKeyPairSync('ed25519')
const day = 86_400_000

/** A CA certificate of its own making as PEM, for that many days around `at`. */
export function certificate(at: Date, { since, left }: { since: number; left: number }): string {
  const ed25519 = sequence(Buffer.from('06032b6570', 'hex'))
  const name = sequence(
    tagged(0x31, sequence(Buffer.from('0603550403', 'hex'), tagged(0x0c, Buffer.from('kubevirt')))),
  )
  const body = sequence(
    tagged(0xa0, Buffer.from('020102', 'hex')),
    Buffer.from('020101', 'hex'),
    ed25519,
    name,
    sequence(time(at.getTime() - since * day), time(at.getTime() + left * day)),
    name,
    keys.publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = tagged(0x03, Buffer.concat([Buffer.from([0]), sign(null, body, keys.privateKey)]))
  const der = sequence(body, ed25519, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${der.replaceAll(/.{64}/gu, '$&\n')}\n-----END CERTIFICATE-----\n`
}

/** As `caBundle` holds it. */
export function bundle(...pems: string[]): string {
  return Buffer.from(pems.join('')).toString('base64')
}

function sequence(...parts: Buffer[]): Buffer {
  return tagged(0x30, Buffer.concat(parts))
}

function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

/** UTCTime: `261121073159Z`. */
function time(at: number): Buffer {
  return tagged(
    0x17,
    Buffer.from(
      `${new Date(at)
        .toISOString()
        .replaceAll(/[-:T]|\..*$/gu, '')
        .slice(2)}Z`,
    ),
  )
}
