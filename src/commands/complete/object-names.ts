import { Nodes } from '../../lib/cluster/kinds/core.ts'
import { VirtualMachines } from '../../lib/cluster/kinds/virtual-machines.ts'
import { clusterOf, last, type Source } from './asked.ts'

/** VMs of the namespace that -n names; none without it, for a name alone means nothing then. */
export const machineNames: Source = async (asked, offer) => {
  const namespace = last(asked, '--namespace') ?? asked.cx.flags.namespace
  if (namespace === undefined || asked.options.has('--all')) return
  const { reader } = await clusterOf(asked)
  for await (const { items } of reader.pages(VirtualMachines, { namespace }))
    for (const { metadata, status } of items)
      if (isName(metadata.name)) offer({ value: metadata.name, description: status?.printableStatus ?? '' })
}

/** Nodes that run VMs. */
export const nodeNames: Source = async (asked, offer) => {
  const { reader } = await clusterOf(asked)
  for await (const { items } of reader.pages(Nodes, { labels: 'kubevirt.io/schedulable' }))
    for (const { metadata } of items)
      if (isName(metadata.name)) offer({ value: metadata.name, description: '' })
}

/** A server may say what it likes: only what can be one reaches a shell (RFC 1123 subdomain). */
const isName = (name: string): boolean => /^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(name)
