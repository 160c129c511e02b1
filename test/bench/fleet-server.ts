import { serveFleet } from './serve-fleet.ts'

// Serves so many simulated clusters until it is ended: node test/bench/fleet-server.ts 200 FILE
const [count = '200', kubeconfig = 'fleet.kubeconfig'] = process.argv.slice(2)
const names = Array.from({ length: Number(count) }, (_, index) => `prod-${index}`)
await serveFleet(names, { kubeconfig, shapeOf: () => ({ version: 'v1.7.4', vms: 4 }) })
process.stdout.write('served\n')
