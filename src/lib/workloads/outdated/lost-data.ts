import type { VirtualMachineInstance } from '../../cluster/kinds/virtual-machines.ts'

/** Volumes that live in the launcher's pod: what the guest wrote to them goes with it (night W2). */
const inThePod = ['containerDisk', 'ephemeral', 'emptyDisk'] as const

/** `containerDisk root`: what a VMI loses when its pod ends. A migration takes all of it along. */
export function lostData({ spec }: VirtualMachineInstance): readonly string[] {
  return (spec?.volumes ?? []).flatMap((volume) => {
    const source = inThePod.find((kind) => volume[kind] !== undefined)
    return source === undefined ? [] : [`${source} ${String(volume['name'])}`]
  })
}
