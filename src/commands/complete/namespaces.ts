import { Namespaces } from '../../lib/cluster/kinds/core.ts'
import { VirtualMachines } from '../../lib/cluster/kinds/virtual-machines.ts'
import type { Reader } from '../../lib/cluster/cluster.ts'
import { findKubeVirts } from '../../lib/facts/find-kubevirts.ts'
import { KvupError } from '../../lib/system/errors.ts'
import { clusterOf, type Source } from './asked.ts'

/** Namespaces with virtual machines; every namespace where there are none, or where they may not be listed. */
export const machineNamespaces: Source = async (asked, offer) => {
  const { reader } = await clusterOf(asked)
  const told = new Set<string>()
  const tell = (name: string | undefined, description: string) => {
    if (name === undefined || told.has(name) || !isNamespace(name)) return
    told.add(name)
    offer({ value: name, description })
  }
  await withMachines(reader, (name) => tell(name, 'has virtual machines'))
  if (told.size > 0) return
  for await (const { items } of reader.pages(Namespaces))
    for (const { metadata } of items) tell(metadata.name, '')
}

/** Where KubeVirt is installed. */
export const kubevirtNamespaces: Source = async (asked, offer) => {
  const found = await findKubeVirts((await clusterOf(asked)).reader)
  if (!found.known) return
  for (const { metadata } of found.items)
    if (metadata.namespace !== undefined && isNamespace(metadata.namespace))
      offer({ value: metadata.namespace, description: `of KubeVirt ${metadata.name}` })
}

async function withMachines(reader: Reader, tell: (name: string | undefined) => void): Promise<void> {
  try {
    for await (const { items } of reader.pages(VirtualMachines))
      for (const { metadata } of items) tell(metadata.namespace)
  } catch (error) {
    if (!(error instanceof KvupError)) throw error
  }
}

/** A server may say what it likes: only what can be one reaches a shell (RFC 1123 label). */
function isNamespace(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)
}
