import type { KubeObject } from '../../../../src/lib/kube/object.ts'
import type { CheckExample } from '../check-example.ts'
import type { Change } from '../laid-over.ts'

/** Which check, in which case, says what, as `level id`. */
export type Row = readonly [check: string, is: string, said: readonly string[], example: CheckExample]

/** Fields of an object that is there. */
export const change = (kind: string, name: string, fields: object, namespace?: string): Change => {
  const { metadata, ...rest } = fields as Partial<KubeObject>
  return { kind, ...rest, metadata: { ...metadata, name, ...(namespace && { namespace }) } } as Change
}

/** The same in KubeVirt's namespace. */
export const home = (kind: string, name: string, fields: object) => change(kind, name, fields, 'kubevirt')

export const kubevirt = (fields: object) => home('KubeVirt', 'kubevirt', fields)

/** The VM that runs. */
export const vmi = (status: object) => change('VirtualMachineInstance', 'web-1', { status }, 'demo')

export const node = (name: string, fields: object) => change('Node', name, fields)
