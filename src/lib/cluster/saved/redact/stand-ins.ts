import type { PrivateNames } from './private-names.ts'

/** Over this length a name is judged by its length: names of migration pods get too long. */
const judgedLength = 47

export interface StandIns {
  namespaces: ReadonlyMap<string, string>
  nodes: ReadonlyMap<string, string>
  machines: ReadonlyMap<string, string>
  others: ReadonlyMap<string, string>
}

/** A name for each, always the same, in the same order; what is too long stays too long. */
export function standIns({ namespaces, nodes, machines, others }: PrivateNames): StandIns {
  return {
    namespaces: numbered(namespaces, 'namespace'),
    nodes: numbered(nodes, 'node'),
    machines: numbered(machines, 'vm'),
    others: numbered(new Set([...others].filter((name) => !machines.has(name))), 'name'),
  }
}

/** `node-01` … `node-12` */
export function numbered(names: ReadonlySet<string>, word: string): Map<string, string> {
  const digits = String(names.size).length
  const sorted = [...names].toSorted()
  return new Map(
    sorted.map((name, index) => {
      const standIn = `${word}-${String(index + 1).padStart(digits, '0')}`
      return [name, name.length > judgedLength ? standIn.padEnd(name.length, '-x') : standIn]
    }),
  )
}
