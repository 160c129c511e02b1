import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KubeObject } from '../../../src/lib/kube/object.ts'
import { isWrite } from '../../../src/simulator/api/api-request.ts'
import { serveSimulator } from '../../../src/simulator/api/http-server.ts'
import { Store } from '../../../src/simulator/api/store.ts'
import { ApiFaults } from '../../scenario/api-faults.ts'
import { scaledClock } from '../../../src/simulator/simulated-clock.ts'
import { simulate, type SimulatedCluster, type Simulation } from '../../../src/simulator/simulated-cluster.ts'
import { type Clock, systemClock } from '../../../src/lib/kube/clock.ts'

/** A simulated cluster on the wire, in this process. */
export interface Served {
  readonly store: Store
  readonly faults: ApiFaults
  /** Path of a kubeconfig with a context for the admin (`sim`) and one for each user that was named. */
  readonly kubeconfig: string
  readonly folder: string
  readonly url: string
  /** Requests of kvup that changed something, as `patch kubevirts/kubevirt`; reviews and dry runs are none. */
  writes(): string[]
  stop(): Promise<void>
}

/** Where KubeVirt lives in it and an operator moves things, so that it is simulated and not only stored. */
export interface Alive extends Served {
  readonly cluster: SimulatedCluster
  /** File with the release's kubevirt-operator.yaml. */
  manifest(version: string, change?: (objects: KubeObject[]) => KubeObject[]): string
}

/** How fast things happen in it: an update of two and a half minutes takes three seconds. */
const usual = 60

interface Pace {
  /** Default 60; 1 where nothing is to happen. */
  speed?: number
  /** What its answers say the time is: this machine's, for at another speed the two would drift apart. */
  said?: Pick<Clock, 'now'>
}

export async function serveCluster(
  shape: Omit<Simulation, 'clock'> & Pace & { users?: readonly string[] } = {},
): Promise<Alive> {
  const { users = [], speed = usual, said = systemClock, ...simulation } = shape
  const cluster = await simulate({ clock: scaledClock(systemClock, speed), ...simulation })
  const served = await serve(cluster.store, users, said)
  let manifests = 0
  return {
    ...served,
    cluster,
    manifest(version, change = (objects) => objects) {
      const file = join(served.folder, `operator-${version}-${++manifests}.yaml`)
      const objects = change(structuredClone(cluster.operatorManifest(version)))
      writeFileSync(file, objects.map((object) => `---\n${JSON.stringify(object)}\n`).join(''))
      return file
    },
    async stop() {
      await served.stop()
      await cluster.stop()
    },
  }
}

/** A cluster in which nothing lives but what is put there. */
export async function serveObjects(objects: readonly KubeObject[] = [], users: readonly string[] = []) {
  const store = new Store(systemClock)
  for (const object of objects) put(store, object)
  return serve(store, users)
}

/** Puts an object there as it is, status included. */
export function put(store: Store, object: KubeObject): void {
  const kind = store.kinds.all().find((k) => k.kind === object.kind && k.apiVersion === object.apiVersion)
  if (!kind) throw new Error(`${object.kind} is not served`)
  store.put(kind, object)
}

async function serve(
  store: Store,
  users: readonly string[],
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<Served> {
  const faults = new ApiFaults(store)
  const server = await serveSimulator(store, { faults, clock })
  const folder = mkdtempSync(join(tmpdir(), 'kvup-test-'))
  const kubeconfig = join(folder, 'kubeconfig')
  writeFileSync(kubeconfig, server.kubeconfig(users))
  return {
    store,
    faults,
    kubeconfig,
    folder,
    url: server.url,
    writes: () =>
      store.audit
        .filter((record) => record.userAgent.startsWith('kvup/') && isWrite(record))
        .map(({ verb, resource, name }) => `${verb} ${resource}/${name ?? ''}`),
    async stop() {
      await server.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
