// The settings of a java-tron that is alone: one witness, whose blocks are solid at once, no
// network, all ports on this machine, and the main network's rules as far as settings say them.

export type JavaTronPorts = {
  readonly http: number;
  readonly solidity: number;
  readonly jsonRpc: number;
  readonly p2p: number;
  readonly backup: number;
};

/** Rules that are off by default, as the main network has them. */
const rules = [
  'allowCreationOfContracts',
  'allowMultiSign',
  'allowDelegateResource',
  'allowSameTokenName',
  'allowTvmTransferTrc10',
  'allowTvmConstantinople',
  'allowTvmSolidity059',
  'forbidTransferToContract',
  'allowTvmIstanbul',
  'changedDelegation',
  'allowBlackHoleOptimization',
  'allowTvmVote',
  'allowTvmLondon',
  'allowHigherLimitForMaxCpuTimeOfOneTx',
  'allowAssetOptimization',
  'allowNewReward',
  'allowDelegateOptimization',
  'allowOptimizedReturnValueOfChainId',
  'allowTvmShangHai',
  'allowOldRewardOpt',
  'allowEnergyAdjustment',
  'allowStrictMath',
  'consensusLogicOptimization',
  'allowTvmCancun',
  'allowTvmBlob',
];

/** `rich` and `witness` in base58; the key and the first block's parent in hex. */
export function javaTronConf(
  ports: JavaTronPorts,
  rich: string,
  witness: { readonly address: string; readonly key: string },
  parentHash = '0'.repeat(64),
): string {
  const { http, solidity, jsonRpc, p2p, backup } = ports;
  const asset = (name: string, address: string, balance: string) => {
    const kind = `accountName = "${name}", accountType = "AssetIssue"`;
    return `{ ${kind}, address = "${address}", balance = "${balance}" }`;
  };
  return `
net { type = mainnet }
storage {
  db.engine = "LEVELDB"
  db.sync = false
  db.directory = "database"
  index.directory = "index"
  transHistory.switch = "on"
  checkpoint.version = 2
  properties = []
}
node.discovery = { enable = false, persist = false, external.ip = "127.0.0.1" }
node.backup { port = ${backup}, priority = 8, members = [] }
crypto { engine = "eckey" }
node {
  walletExtensionApi = true
  listen.port = ${p2p}
  maxConnections = 1
  minConnections = 0
  minParticipationRate = 0
  unsolidifiedBlockCheck = false
  active = []
  passive = []
  http {
    fullNodeEnable = true
    fullNodePort = ${http}
    solidityEnable = true
    solidityPort = ${solidity}
    PBFTEnable = false
  }
  rpc { minEffectiveConnection = 0, enable = false, solidityEnable = false, PBFTEnable = false }
  jsonrpc {
    httpFullNodeEnable = true
    httpFullNodePort = ${jsonRpc}
    httpSolidityEnable = false
    httpPBFTEnable = false
  }
}
rate.limiter { http = [], rpc = [] }
seed.node = { ip.list = [] }
genesis.block = {
  assets = [
    ${asset('Zion', rich, '25000000000000000')},
    ${asset('Sun', witness.address, '10000000000000000')},
    ${asset('Blackhole', 'THKrowiEfCe8evdbaBzDDvQjM5DGeB3s3F', '-9223372036854775808')}
  ]
  witnesses = [
    { address = "${witness.address}", url = "http://witness", voteCount = 100000000 }
  ]
  timestamp = "0"
  parentHash = "0x${parentHash}"
}
localwitness = ["${witness.key}"]
block = { needSyncCheck = false, maintenanceTimeInterval = 21600000, proposalExpireTime = 600000 }
vm = { supportConstant = true, minTimeRatio = 0.0, maxTimeRatio = 5.0, longRunningTime = 1000 }
committee = {
${rules.map((rule) => `  ${rule} = 1`).join('\n')}
  unfreezeDelayDays = 14
}
enery.limit.block.num = 0
`;
}
