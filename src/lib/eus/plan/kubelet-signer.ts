import { X509Certificate } from 'node:crypto'
import type { Reader } from '../../cluster/cluster.ts'
import { ConfigMaps } from '../../cluster/kinds/core.ts'
import { hours } from '../../system/units.ts'

const days = 24 * hours
const place = { name: 'kube-apiserver-to-kubelet-client-ca', namespace: 'openshift-kube-apiserver-operator' }
const pem = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

/**
 * From when to when the newest signer is good; none where there is no certificate to read. Of the bundle, which is a ConfigMap: Secrets are
 * not read. Throws ApiError.
 */
export async function kubeletSigner(reader: Reader): Promise<readonly { begins: string; ends: string }[]> {
  const found = await reader.find(ConfigMaps, place)
  const bundle = found.is === 'object' ? (found.object.data?.['ca-bundle.crt'] ?? '') : ''
  return (bundle.match(pem) ?? [])
    .flatMap(read)
    .toSorted((a, b) => b.begins.getTime() - a.begins.getTime())
    .slice(0, 1)
    .map(({ begins, ends }) => ({ begins: begins.toISOString(), ends: ends.toISOString() }))
}

function read(block: string): readonly { begins: Date; ends: Date }[] {
  try {
    const { validFrom, validTo } = new X509Certificate(block)
    return [{ begins: new Date(validFrom), ends: new Date(validTo) }]
  } catch {
    return []
  }
}

/** It is replaced after four fifths of its life; a pool that is paused then does not learn of the new one (ocp 3.6). */
export function rotationOf({ begins, ends }: { begins: string; ends: string }): Date {
  const [from, until] = [Date.parse(begins), Date.parse(ends)]
  return new Date(from + Math.round(((until - from) * 0.8) / days) * days)
}
