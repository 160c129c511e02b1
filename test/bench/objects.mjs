import { readFileSync } from 'node:fs'

const templates = JSON.parse(readFileSync(new URL('objects.json', import.meta.url), 'utf8'))

/** An object of objects.json; each `{word}` in it is what stands for it. */
export function madeOf(name, words) {
  const text = JSON.stringify(templates[name])
  return JSON.parse(text.replaceAll(/\{(\w+)\}/gu, (_, word) => words[word]))
}

/**
 * As virt-api, virt-controller and virt-handler leave it behind. One in a hundred cannot be migrated. `owner`: the VM that it is of;
 * `outdated`: it runs the launcher of an earlier release, and is labelled so.
 */
export function runningVmi({ name, namespace, index, owner, outdated = false }) {
  const pod = `a0000000-0000-4000-8000-${String(index).padStart(12, '0')}`
  const vmi = madeOf('running', { name, namespace, pod, node: `worker-${(index % 3) + 1}` })
  if (owner) vmi.metadata.ownerReferences = [owner]
  if (outdated) {
    vmi.metadata.labels['kubevirt.io/outdatedLauncherImage'] = ''
    vmi.status.launcherContainerImageVersion = 'quay.io/kubevirt/virt-launcher:v1.7.0'
  }
  if (index % 100 === Math.floor(index / 100) % 20)
    Object.assign(
      vmi.status.conditions.find(({ type }) => type === 'LiveMigratable'),
      { status: 'False', reason: 'HostDeviceNotLiveMigratable', message: 'VMI uses a PCI host device' },
    )
  return vmi
}
