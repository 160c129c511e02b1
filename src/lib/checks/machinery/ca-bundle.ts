import { X509Certificate } from 'node:crypto'

/** What the base64 text of a `caBundle` holds. */
export type CaBundle =
  | { is: 'missing' }
  | { is: 'invalid'; why: string }
  /** Of the certificate that ends last: KubeVirt keeps the old CA beside the new one. */
  | { is: 'certificates'; begins: Date; ends: Date }

const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

/** Reads it; an API server that finds it unreadable cannot call the service. */
export function caBundle(text: string | undefined): CaBundle {
  if (text === undefined || text === '' || text === 'Cg==') return { is: 'missing' }
  const blocks = Buffer.from(text, 'base64').toString('latin1').match(pem) ?? []
  if (blocks.length === 0) return { is: 'invalid', why: 'there is no PEM certificate in it' }
  try {
    return newest(blocks.map((block) => new X509Certificate(block)))
  } catch {
    return { is: 'invalid', why: 'a certificate in it cannot be read' }
  }
}

function newest(certificates: readonly X509Certificate[]): CaBundle {
  const [last] = certificates
    .map(({ validFrom, validTo }) => ({ begins: new Date(validFrom), ends: new Date(validTo) }))
    .toSorted((a, b) => b.ends.getTime() - a.ends.getTime())
  return last ? { is: 'certificates', ...last } : { is: 'missing' }
}
