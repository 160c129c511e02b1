import type { Kind } from './kind.ts'

/**
 * The kind whose objects a call of this kind acts on: virt-api serves `subresources.kubevirt.io` for those of `kubevirt.io`, and has none
 * to read there (a GET of one is 401, lab "Seen with workloads" 13).
 */
export function actedOn<T extends Pick<Kind, 'apiVersion'>>(kind: T): T {
  return { ...kind, apiVersion: kind.apiVersion.replace(/^subresources\.kubevirt\.io\//, 'kubevirt.io/') }
}
