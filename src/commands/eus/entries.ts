import type { Entry } from '../entries.ts'

/** The commands under `kvup eus`. */
export const eusEntries: readonly Entry[] = [
  {
    name: 'plan',
    description: 'Show the way to the next minor with extended support, hop by hop, and what is in its way',
    load: async () => (await import('../eus.ts')).eusPlanCommand,
  },
  {
    name: 'run',
    description: 'Carry the way out: hops of platform and operator, with pools and VMs kept until the end',
    load: async () => (await import('../eus.ts')).eusRunCommand,
  },
  {
    name: 'status',
    description: 'Show where a window stands, since when, and what is borrowed',
    load: async () => (await import('../eus.ts')).eusStatusCommand,
  },
  {
    name: 'abort',
    description: 'End a window where it stands, and give back what is borrowed',
    load: async () => (await import('../eus.ts')).eusAbortCommand,
  },
  {
    name: 'restore',
    description: 'Give back borrowed settings alone, wherever the window stands',
    load: async () => (await import('../eus.ts')).eusRestoreCommand,
  },
]
