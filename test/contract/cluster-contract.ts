import { afterAll, beforeAll, describe } from 'vitest'
import type { ContractBackend } from './contract-backend.ts'
import { applyPromises } from './promises/apply.ts'
import { definitionPromises } from './promises/definitions.ts'
import { deletePromises } from './promises/delete.ts'
import { discoveryPromises } from './promises/discovery.ts'
import { followPromises } from './promises/follow.ts'
import { generationPromises } from './promises/generation.ts'
import { listPromises } from './promises/list.ts'
import { ownershipPromises } from './promises/ownership.ts'
import { patchPromises } from './promises/patch.ts'
import { readPromises } from './promises/read.ts'
import { dryRunPromises } from './promises/dry-run.ts'

export type { ContractBackend } from './contract-backend.ts'

/** What kvup relies on in a cluster. Every backend is held to it: the simulator, and the real kube-apiserver. */
export function clusterContract(name: string, open: () => Promise<ContractBackend>): void {
  describe(`${name} keeps the cluster contract`, () => {
    let opened: ContractBackend | undefined
    const backend = (): ContractBackend => {
      if (opened === undefined) throw new Error('the backend was not opened')
      return opened
    }
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close())

    readPromises(backend)
    listPromises(backend)
    patchPromises(backend)
    applyPromises(backend)
    ownershipPromises(backend)
    generationPromises(backend)
    deletePromises(backend)
    definitionPromises(backend)
    dryRunPromises(backend)
    discoveryPromises(backend)
    followPromises(backend)
  })
}
