/* What the emulated boards answer on the PCI bus. Both libraries say the same. */
#ifndef NVSHARE_EMULATOR_PCI_IDENTITY_H
#define NVSHARE_EMULATOR_PCI_IDENTITY_H

/* The vendor is NVIDIA; no product of theirs has this device number, and none should be taken for
 * one whose measured constants these are not. */
#define EMULATED_PCI_DEVICE_ID    0xEEEE10DEu
#define EMULATED_PCI_SUBSYSTEM_ID 0x000110DEu

#define EMULATED_PCI_DOMAIN 0u
#define EMULATED_PCI_DEVICE 0u

/* A 3D controller without a display. */
#define EMULATED_PCI_BASE_CLASS 0x03u
#define EMULATED_PCI_SUB_CLASS  0x02u

#endif
