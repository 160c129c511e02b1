import type { KubeObject } from '../cluster/object.ts'

/** Where a VM or its VMI is. */
export interface VmPlace {
  namespace: string
  name: string
}

/** `namespace/name`: what a VM and its VMI are called in maps, messages and the journal. */
export const vmName = ({ metadata: { namespace = '', name } }: KubeObject): string => `${namespace}/${name}`

/** The way back from `vmName`. */
export function placeOfVm(vm: string): VmPlace {
  const slash = vm.indexOf('/')
  return { namespace: vm.slice(0, slash), name: vm.slice(slash + 1) }
}
