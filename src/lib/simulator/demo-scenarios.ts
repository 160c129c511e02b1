import type { Simulation } from './simulate.ts'

/** A cluster to play with, and what the demo asks of it. */
export interface DemoScenario {
  name: string
  /** What there is to see. */
  shows: string
  simulation: Omit<Simulation, 'clock'>
  to: string
  method?: 'image-tag'
  /** How long the demo's upgrade may take, simulated. */
  timeout?: string
  accept?: readonly string[]
}

const happy = { version: 'v1.7.4', vms: 12, methods: ['LiveMigrate'], workers: 6 } as const

/** By the name that `kvup demo --scenario` takes; the first is the default. */
export const demoScenarios: readonly DemoScenario[] = [
  {
    name: 'image-tag',
    shows:
      'the operator is new enough: imageTag is patched, twelve VMs are held meanwhile and migrate afterwards',
    simulation: { ...happy, operator: 'v1.8.4', method: 'image-tag' },
    to: 'v1.8.4',
  },
  {
    name: 'operator-manifest',
    shows: 'no imageTag: the operator is replaced and brings its own version',
    simulation: { ...happy, method: 'operator-manifest' },
    to: 'v1.8.4',
  },
  {
    name: 'wrong-tag',
    shows: 'a version whose images do not exist: what is named, what stays as it was, the way back (exit 4)',
    simulation: {
      ...happy,
      version: 'v1.8.4',
      operator: 'v1.8.4',
      method: 'image-tag',
      faults: { unpullable: ':v1\\.8\\.5$' },
    },
    to: 'v1.8.5',
    method: 'image-tag',
    timeout: '90s',
  },
  {
    name: 'canary-crash',
    shows: 'the first new virt-handler crashes: the others stay untouched (exit 4)',
    simulation: {
      ...happy,
      operator: 'v1.8.4',
      method: 'image-tag',
      faults: { crashing: 'virt-handler:v1\\.8\\.4$' },
    },
    to: 'v1.8.4',
    timeout: '3m',
  },
  {
    name: 'not-ready-node',
    shows: 'a node that went silent: the update would wait for it for ever (exit 4)',
    simulation: { ...happy, operator: 'v1.8.4', method: 'image-tag', faults: { notReady: ['worker-3'] } },
    to: 'v1.8.4',
    timeout: '3m',
  },
  {
    name: 'blip',
    shows:
      'the operator fails once, seconds after it said that all is ready, and heals: settling takes that long',
    simulation: { ...happy, operator: 'v1.8.4', method: 'image-tag', faults: { blipAfterReady: true } },
    to: 'v1.8.4',
  },
]
